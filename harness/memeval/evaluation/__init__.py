"""The only room where scenarios and answer keys are both known: plans a run, has it executed and graded, seals it."""

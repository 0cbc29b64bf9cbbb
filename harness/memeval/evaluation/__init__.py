"""Plans, executes, grades and seals runs: the only package that knows both scenarios and answer keys."""

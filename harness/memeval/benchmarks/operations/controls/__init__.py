"""Controls of operations@1."""

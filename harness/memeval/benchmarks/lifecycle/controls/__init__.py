"""Controls of this benchmark alone."""

"""Charts that pages show."""

"""One module per kind of page; the modules are discovered automatically."""

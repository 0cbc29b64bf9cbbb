"""Running scenarios through a system: what is asked, in what order, and what is on disk when it stops."""

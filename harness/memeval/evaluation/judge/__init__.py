"""Which judge decides, and the grades that it gives."""

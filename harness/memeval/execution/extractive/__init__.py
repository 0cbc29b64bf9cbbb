"""The offline reader ``extractive@2``: times, statements, and the choice of an answer."""

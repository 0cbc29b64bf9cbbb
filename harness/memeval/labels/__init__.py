"""Labels of answers by readers: what the graders are worth."""

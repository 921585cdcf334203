"""Changes: one module for each family. Each is declared once, and allowed, run and told alike."""

"""GET pages: one module and one blueprint for each family. They ask, present and render."""

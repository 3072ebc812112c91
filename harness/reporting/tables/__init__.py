"""Tables as text: terminal, Markdown, CSV, LaTeX and HTML."""

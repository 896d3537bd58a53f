"""Content types (media types) of the files that are read."""

from __future__ import annotations

_OFFICE = "application/vnd.openxmlformats-officedocument."

PDF = "application/pdf"
WORD = f"{_OFFICE}wordprocessingml.document"
EXCEL = f"{_OFFICE}spreadsheetml.sheet"
SLIDES = f"{_OFFICE}presentationml.presentation"
BOOK = "application/epub+zip"
RICH_TEXT = "application/rtf"
MAIL = "message/rfc822"
WEB_PAGE = "text/html"
MARKDOWN = "text/markdown"
DELIMITED = "text/csv"
JSON = "application/json"
JSON_LINES = "application/jsonl"
PLAIN = "text/plain"

READ = "PDF, DOCX, PPTX, XLSX, EPUB, RTF, HTML, Markdown, CSV, JSON, JSON lines, EML and text"

"""What draws: the report, one HTML page that holds a model and evaluates it."""

from clearset.explain._document import report_document
from clearset.explain._render import render_report, write_report

__all__ = ["render_report", "report_document", "write_report"]

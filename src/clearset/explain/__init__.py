"""What draws: the report that is the model, plots, and what notebooks show."""

from clearset.explain._document import report_document
from clearset.explain._explained import dependence_html, explanation_html, joint_explanation_html
from clearset.explain._notebook import (
    certificate_html,
    churn_html,
    model_html,
    token_table_html,
    tuning_html,
)
from clearset.explain._render import render_report, write_report
from clearset.explain.plots import (
    plot_calibrators,
    plot_history,
    plot_lattice,
    plot_partial_dependence,
    plot_quality,
    plot_rho,
    plot_waterfall,
)

__all__ = [
    "certificate_html",
    "churn_html",
    "dependence_html",
    "explanation_html",
    "joint_explanation_html",
    "model_html",
    "plot_calibrators",
    "plot_history",
    "plot_lattice",
    "plot_partial_dependence",
    "plot_quality",
    "plot_rho",
    "plot_waterfall",
    "render_report",
    "report_document",
    "token_table_html",
    "tuning_html",
    "write_report",
]

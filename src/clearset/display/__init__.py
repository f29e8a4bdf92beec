"""What draws: pages of documents, plots, and what notebooks show. It knows what it draws by its attributes only."""

from clearset.display._html_fragments import write_page
from clearset.display._notebook import (
    certificate_html,
    churn_html,
    edit_comparison_html,
    joint_model_html,
    model_html,
    token_table_html,
    tuning_html,
)
from clearset.display._notebook_explanations import dependence_html, explanation_html, joint_explanation_html
from clearset.display._report_page import render_report, write_report
from clearset.display._short_text import (
    counted,
    feature_lists,
    item_texts,
    set_feature_texts,
    token_features,
    token_texts,
    with_columns,
    with_order,
)
from clearset.display.plots._calibrators import plot_calibrators
from clearset.display.plots._dependence import plot_partial_dependence
from clearset.display.plots._history import plot_history
from clearset.display.plots._importance import plot_importance
from clearset.display.plots._lattice import plot_lattice
from clearset.display.plots._quality import plot_quality, reliability
from clearset.display.plots._rho import plot_rho
from clearset.display.plots._waterfall import plot_waterfall

__all__ = [
    "certificate_html",
    "churn_html",
    "counted",
    "dependence_html",
    "edit_comparison_html",
    "explanation_html",
    "feature_lists",
    "item_texts",
    "joint_explanation_html",
    "joint_model_html",
    "model_html",
    "plot_calibrators",
    "plot_history",
    "plot_importance",
    "plot_lattice",
    "plot_partial_dependence",
    "plot_quality",
    "plot_rho",
    "plot_waterfall",
    "reliability",
    "render_report",
    "set_feature_texts",
    "token_features",
    "token_table_html",
    "token_texts",
    "tuning_html",
    "with_columns",
    "with_order",
    "write_page",
    "write_report",
]

"""How an answer finds its views. No other place below the views knows their names."""

from __future__ import annotations

from importlib import import_module
from typing import Any

VIEWS = {
    "text": "text:render",
    "text of many": "text:render_many",
    "panel": "text:panel",
    "panel of many": "text:panel_many",
    "fragment": "html:fragment",
    "fragment of many": "html:fragment_many",
    "page": "butfor.report.page:page",
    "page written": "butfor.report.page:write",
    "json": "butfor.records.writing:record_of",
    "dict": "butfor.records.brief:as_dict",
    "json list": "butfor.records.writing:list_of",
    "loaded": "butfor.records.reading:single",
    "loaded together": "butfor.records.reading:together",
    "lines": "butfor.records.writing:batch_of",
    "lines written": "butfor.records.writing:write_batch",
    "lines loaded": "butfor.records.reading:batch",
    "frame": "answer_frames:frame",
    "csv": "answer_frames:to_csv",
    "excel": "answer_frames:to_excel",
    "parquet": "butfor.portfolio.results:write",
    "checked": "butfor.audit.logged:checked",
    "letter": "letters:render",
    "customer letter": "customer:render",
    "letters written": "customer_folder:write",
    "contributions": "contributions:render",
    "plot": "plot:draw",
    "region": "region:draw",
    "waterfall": "contributions_picture:draw",
    "alternatives": "alternatives:text",
    "alternatives drawn": "alternatives:draw",
    "tree path": "tree_path:text",
    "tree path drawn": "tree_path:draw",
    "decision map": "decision_map:draw",
    "decision map in words": "decision_map:in_words",
    "listing": "listing:as_text",
    "listing fragment": "listing:as_html",
    "menu": "menu:listing",
    "menu in words": "menu:in_words",
    "menu drawn": "menu_picture:draw",
    "ladder": "ladder:listing",
    "ladder in words": "ladder:in_words",
    "ladder drawn": "ladder:draw",
    "trade-off": "trade_off:listing",
    "trade-off in words": "trade_off:in_words",
    "trade-off drawn": "trade_off:draw",
    "best": "best:listing",
}
"""For each way to show an answer, its function, in a file of `butfor.views` unless said otherwise.

A new view is a file and a line here.
"""


def rendered(thing: Any, way: str, *args: Any, **options: Any) -> Any:
    """What the view called `way` makes of an answer."""
    home, name = VIEWS[way].split(":")
    module = import_module(home if "." in home else f"butfor.views.{home}")
    return getattr(module, name)(thing, *args, **options)

"""The recipes of the page for engines that hold the rows themselves, where they are installed."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tests.portfolio.asked import explainer, rows

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]


def test_ray_data() -> None:
    ray = pytest.importorskip("ray")
    own = explainer()
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        found = ray.data.from_pandas(rows()).map_batches(
            lambda frame: next(own.map_frames([frame])), batch_format="pandas", batch_size=20
        )
        costs = sorted(found.to_pandas()["cost"].tolist())
    finally:
        ray.shutdown()
    assert costs == sorted(own.explain(rows()).costs.tolist())


def test_spark(tmp_path: Path) -> None:
    sql = pytest.importorskip("pyspark.sql")
    own = explainer()
    rows().to_parquet(tmp_path / "rows.parquet")
    spark = sql.SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        types = spark.createDataFrame(next(own.map_frames([rows(3)]))).schema
        read = spark.read.parquet(str(tmp_path / "rows.parquet"))
        found: pd.DataFrame = read.mapInPandas(lambda frames: own.map_frames(frames), types).toPandas()
    finally:
        spark.stop()
    assert sorted(found["cost"].tolist()) == sorted(own.explain(rows()).costs.tolist())

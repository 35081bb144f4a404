"""The page docs/start/spark.md, followed with a real Spark."""

import os

import pages
import pytest
from clusters.spark.fixtures import SHORT_LIVED, environment_folder, spark_home_of, spark_python


@pytest.mark.parametrize("release", ["3.5", "4"])
def test_a_model_is_trained_on_rows(gangrun, home, tmp_path, release):
    folder = tmp_path / "job"
    folder.mkdir()
    pages.write_files("start/spark", folder)
    own = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    python, spark = spark_python(release), spark_home_of(release, tmp_path)
    own |= {"PYSPARK_PYTHON": str(python), "PYSPARK_DRIVER_PYTHON": str(python), "SPARK_HOME": str(spark), "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(tmp_path), "JDK_JAVA_OPTIONS": SHORT_LIVED, "PYTHONPATH": str(pages.ROOT / "python"),
            "GANGRUN_BIN": str(gangrun.parent), "GANGRUN_HOME": str(home), "PATH": f"{environment_folder(release) / 'bin'}:{os.environ['PATH']}"}
    pages.follow(pages.fences("start/spark"), folder, own, {"python3 -m venv ~/spark-env\n. ~/spark-env/bin/activate\n": ""})

"""The first pages of the documentation, as somebody follows them who has a checkout: docs/start."""

import pages

WITH_A_FRAMEWORK = "Train with a framework"


def test_gangrun_is_built_and_looked_at(gangrun, home, tmp_path):
    """Through the page's own path, which the build of this checkout may not be."""
    folder = tmp_path / "checkout"
    (folder / "build/release").mkdir(parents=True)
    (folder / "build/release/src").symlink_to(gangrun.parent)
    pages.follow(pages.fences("index"), folder, pages.with_programs(gangrun, home))


def test_a_model_is_trained_on_this_machine(gangrun, home, tmp_path):
    folder = tmp_path / "job"
    folder.mkdir()
    pages.write_files("this-machine", folder)
    pages.follow(pages.fences("this-machine", without=WITH_A_FRAMEWORK), folder, pages.with_programs(gangrun, home))

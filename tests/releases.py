"""Which part of the acceptance passes on which release of Hadoop and Spark: run for a release, kept in a file of records,
and shown as a table of a document.

A part is some of the tests of the newest release; a variable tells them another one. GANGRUN_UPDATE_GOLDEN=1 writes the
records anew.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIMIT_S = 3600
TEST_LIMIT_S = 300
OUTCOME = re.compile(r"^(PASSED|FAILED|ERROR|SKIPPED) (?:\[\d+\] )?(\S+)", re.MULTILINE)


class Releases:
    """`parts` is {row of the table: its tests}; `lacking` {(row, release): why not}, and those tests are not run."""

    def __init__(self, name, folder, variable, document, releases, parts, lacking=None):
        self.name, self.folder, self.variable, self.document = name, ROOT / folder, variable, ROOT / document
        self.releases, self.parts, self.lacking = releases, parts, lacking or {}
        self.records = self.folder / "releases.json"

    def run(self, release, log):
        """{row: what failed of it} of a release: one pytest runs all of its tests."""
        wanted = {row: [test.format(release=release) for test in tests] for row, tests in self.parts.items()
                  if (row, release) not in self.lacking}
        names = list(dict.fromkeys(str(self.folder / test) for tests in wanted.values() for test in tests))
        with open(log, "w") as sink:
            subprocess.run([sys.executable, "-m", "pytest", "-q", "-rA", "--show-capture=no", "--tb=short", "-p", "no:cacheprovider",
                            f"--timeout={TEST_LIMIT_S}", *names], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=sink,
                           stderr=subprocess.STDOUT, timeout=LIMIT_S, env=os.environ | {self.variable: release})
        passed, others = set(), set()
        for outcome, name in OUTCOME.findall(log.read_text()):
            (passed if outcome == "PASSED" else others).add(str((ROOT / name).relative_to(self.folder)))
        return {row: [test for test in tests if test not in passed - others] for row, tests in wanted.items()}

    def check(self, release, log):
        """Runs a release: all passes but what is known to be lacking, and that is what is recorded."""
        failed = {row: tests for row, tests in self.run(release, log).items() if tests}
        assert not failed, f"{self.name} {release}: {json.dumps(failed, indent=1)}\n{log.read_text()[-6000:]}"
        rows = [row for row in self.parts if (row, release) not in self.lacking]
        if os.environ.get("GANGRUN_UPDATE_GOLDEN"):
            self.records.write_text(json.dumps(self.recorded() | {release: rows}, indent=1) + "\n")
            self.write_table()
        assert self.recorded().get(release) == rows, f"{self.records} tells otherwise; GANGRUN_UPDATE_GOLDEN=1 writes it anew"

    def recorded(self):
        """{release: the rows that passed there}."""
        return json.loads(self.records.read_text()) if self.records.exists() else {}

    def table(self):
        """The lines of the document's table."""
        known = self.recorded()
        cells = [[self.name, *self.releases], ["---"] * (len(self.releases) + 1)]
        for row in self.parts:
            cells.append([row, *("yes" if row in known.get(release, ()) else self.lacking.get((row, release), "not run")
                                 for release in self.releases)])
        return ["| " + " | ".join(line) + " |" for line in cells]

    def written(self):
        """(lines before, the table, lines after) of the document."""
        lines = self.document.read_text().splitlines()
        first = next(number for number, line in enumerate(lines) if line.startswith(f"| {self.name} |"))
        last = next((number for number, line in enumerate(lines) if number > first and not line.startswith("|")), len(lines))
        return lines[:first], lines[first:last], lines[last:]

    def write_table(self):
        before, _, after = self.written()
        self.document.write_text("\n".join([*before, *self.table(), *after]) + "\n")


HADOOP = Releases(
    "Hadoop", "tests/yarn", "HADOOP_RELEASE", "docs/yarn.md", ("3.5.0", "3.4.2", "3.3.6", "3.2.4", "2.10.2"), {
        "the protocols, from the submission to the end": ["test_hadoop_wire.py::test_client_and_master"],
        "a gang runs, its output is shown, and its first cause": [
            "test_run_on_yarn.py::test_a_gang_runs_and_what_it_says_is_shown[simple]",
            "test_run_on_yarn.py::test_values_of_variables_arrive_as_they_are[simple]",
            "test_run_on_yarn.py::test_a_failure_is_told_with_its_first_cause[simple]"],
        "logs after the end": ["test_run_on_yarn.py::test_the_output_of_an_ended_job_comes_from_the_aggregated_logs[simple]"],
        "`attach`, `status`, `kill`, `result`, Ctrl-C, YARN's own kill": [
            "test_run_on_yarn.py::test_the_commands_after_a_detached_job[simple]",
            "test_commands.py::test_attach_shows_a_job_and_leaves_it_alone",
            "test_commands.py::test_what_a_job_that_yarn_has_ended_leaves_is_cleared_away",
            "test_commands.py::test_ctrl_c_ends_the_job",
            "test_commands.py::test_results_are_there_when_a_task_has_ended_and_after_the_job"],
        "what the cluster lacks is refused before the start": [
            "test_run_on_yarn.py::test_bad_input_is_refused_before_anything_is_started[simple]",
            "test_yarn_bad_input.py::test_a_queue_of_others"],
        "archives": ["test_archives.py::test_each_type_finds_its_archives_and_nothing_is_brought_twice"],
        "the job's page behind YARN's proxy": ["test_page.py::test_the_page_is_live_behind_the_proxy_and_only_there"],
        "labels, priority, GPUs and other countable resources": [
            "test_placement.py::test_labels_resources_master_priority_and_tags_are_what_was_asked_for"],
        "`one_per_node`": ["test_placement.py::test_a_type_is_on_each_node_once",
                           "test_placement.py::test_a_label_holds_for_a_type_that_is_on_each_node_once"],
        "a task over its memory": ["test_faults.py::test_a_task_over_its_memory_is_told_with_use_and_limit"],
        "the master dies, the ResourceManager restarts": [
            "test_faults.py::test_no_task_notices_that_the_master_is_killed",
            "test_faults.py::test_no_task_notices_a_restart_of_the_resource_manager"],
        "both masters of a pair fail over": ["test_high_availability.py::test_no_task_notices_that_both_masters_fail_over"],
        "the notice before a preemption": [
            "test_preemption.py::test_a_task_is_told_by_signal_and_file_and_no_restart_is_used_up"],
        "Kerberos and privacy: a gang, its tokens, another master": [
            "test_run_on_yarn.py::test_a_gang_runs_and_what_it_says_is_shown[privacy]",
            "test_kerberos.py::test_no_task_notices_that_the_master_is_killed"],
        "`image` and `mounts`, by YARN's own runtime for Docker": [
            "test_yarn_images.py::test_a_job_runs_in_its_image[auto-gangrun-guard-1]",
            "test_yarn_images.py::test_no_container_is_left_when_a_job_is_killed[docker]"],
    }, {
        ("`one_per_node`", "2.10.2"): "refused: it has no placement constraints",
        ("`image` and `mounts`, by YARN's own runtime for Docker", "2.10.2"): "`mounts` are refused: it has none",
    })

SPARK = Releases(
    "Spark", "tests/spark", "SPARK_RELEASE", "docs/spark.md", ("4", "3.5", "3.4", "3.3"), {
        "nodes start together, return, and fail with the first error": [
            "test_cluster.py::test_a_function_runs_in_every_node_and_returns_from_each",
            "test_cluster.py::test_an_error_of_a_node_is_raised_with_its_traceback[0]",
            "test_cluster.py::test_an_error_of_a_node_is_raised_with_its_traceback[1]",
            "test_cluster.py::test_what_the_settings_rule_out_is_refused_at_once",
            "test_cluster.py::test_a_shutdown_leaves_nothing"],
        "an RDD is fed, with a ps and without": [
            "test_cluster.py::test_every_row_reaches_a_node_once_in_each_epoch[3-options0]",
            "test_cluster.py::test_every_row_reaches_a_node_once_in_each_epoch[3-options1]"],
        "rows of every kind of an RDD, in order, none twice": [
            "test_rows.py::test_no_row_is_lost_or_comes_twice_or_out_of_order",
            "test_rows.py::test_rows_of_every_kind_arrive_as_they_are"],
        "rows of a DataFrame": ["test_rows.py::test_rows_of_a_data_frame_arrive_as_spark_would_give_them[{release}]"],
        "ML vectors in a DataFrame": ["test_rows.py::test_rows_of_a_data_frame_arrive_as_spark_would_give_them[{release}]"],
        "`inference`": ["test_cluster.py::test_inference_gives_one_result_for_each_row_in_order",
                        "test_rows.py::test_inference_gives_a_result_for_each_row_in_order"],
        "streams (`DStream`), and a query whose driver is killed": [
            "test_streams.py::test_a_dstream_is_fed_until_somebody_asks_for_its_end",
            "test_streams.py::test_a_query_whose_driver_is_killed_loses_no_batch_and_repeats_one_at_most"],
        "TFRecord files": ["test_records.py::test_every_type_goes_into_records_and_comes_back", "test_records.py::test_what_was_saved_is_loaded"],
        "an executor or the driver that is killed on a standalone cluster leaves nothing": [
            "test_spark_faults.py::test_an_executor_that_is_killed_ends_the_others_and_leaves_nothing",
            "test_spark_faults.py::test_a_driver_that_is_killed_leaves_nothing"],
    }, {
        ("ML vectors in a DataFrame", "3.3"): "refused: feed `DataFrame.rdd`",
    })

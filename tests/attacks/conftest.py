import contextlib

import pytest

from victim import Victim


@pytest.fixture(scope="module")
def victim(gangrun, tmp_path_factory):
    """One job for all attacks of a module: what an attack leaves, the next one finds. It has to end well."""
    made = Victim(gangrun, tmp_path_factory.mktemp("h"), tmp_path_factory.mktemp("w"))
    with contextlib.ExitStack() as stack:
        stack.callback(made.stop)
        yield made
        made.assert_well()
        made.let_end()


@pytest.fixture
def make_victim(gangrun, tmp_path_factory):
    with contextlib.ExitStack() as stack:

        def make(*words, **options):
            made = Victim(gangrun, tmp_path_factory.mktemp("h"), tmp_path_factory.mktemp("w"), *words, **options)
            stack.callback(made.stop)
            return made

        yield make

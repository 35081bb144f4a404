"""The page docs/start/ssh.md, followed on hosts that share no folder with the reader."""

import shutil

import pages


def test_a_model_is_trained_on_hosts_with_ssh(gangrun, home, make_sshds, fake_ssh, tmp_path):
    sshds = make_sshds(2, private=True)
    folder = tmp_path / "job"
    folder.mkdir()
    for name in ("start/this-machine", "start/ssh"):
        pages.write_files(name, folder)
    # The hosts of the test are in a configuration of its own.
    ssh = shutil.which("ssh")
    fake_ssh(f'exec {ssh} -F {sshds.config} "$@"')
    pages.follow(pages.fences("start/ssh"), folder, pages.with_programs(gangrun, home),
                 {"gpu1:1,gpu2:1": ",".join(f"{name}:1" for name in sshds.hosts.names)})

"""How fast the feed passes frames from one process to another, beside memcpy.

    python bench/feed_ring.py [--runs 3] [--mib 2048]
"""

import argparse
import subprocess

from measure import Verdicts, build_folder

# What a batch of Spark's rows has, small and large, and an Arrow batch of wide rows.
FRAMES = (64 << 10, 512 << 10, 8 << 20)


def one_run(frame: int, mib: int) -> tuple[float, ...]:
    """GB/s: memcpy into 192 MiB round and round, into 4 MiB, the feed to a reader that only takes the frames, to one that copies
    them out; then the processor's seconds for a GB: of both memcpy, of who feeds, of who takes."""
    done = subprocess.run([build_folder() / "bench/feed_ring", str(frame), str(mib)], capture_output=True, text=True,
                          check=True, timeout=300)
    return tuple(map(float, done.stdout.split()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--mib", type=int, default=2048)
    arguments = parser.parse_args()
    verdicts = Verdicts()
    for frame in FRAMES:
        runs = [one_run(frame, arguments.mib) for _ in range(arguments.runs)]
        memcpy, warm, taken, copied = (max(values) for values in list(zip(*runs))[:4])
        cpu = tuple(min(values) for values in list(zip(*runs))[4:])
        print(f"frames of {frame >> 10} KiB, GB/s, best of {arguments.runs}: memcpy {memcpy:.1f}, within 4 MiB {warm:.1f}, "
              f"feed {taken:.1f}, feed and copied out {copied:.1f}")
        print("  processor's seconds for a GB: memcpy {:.2f}, within 4 MiB {:.2f}, who feeds {:.2f}, who takes {:.2f}".format(*cpu))
        verdicts.at_least(f"feed / memcpy, {frame >> 10} KiB", taken / memcpy, 0.6)
        print(f"processor's time, memcpy within 4 MiB / feed, {frame >> 10} KiB: {cpu[1] / (cpu[2] + cpu[3]):.2f}")
    verdicts.finish()


if __name__ == "__main__":
    main()

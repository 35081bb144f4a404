"""What a task finds of the node's Hadoop: enough to read HDFS as libhdfs does, by a Java virtual machine in the process."""

import os
import re

import pytest

# Loads Java as libhdfs does, which neither calls a script nor expands a "*" in the class path, and runs HDFS's shell in it.
BY_JAVA = """
import ctypes, os, sys

class Option(ctypes.Structure):
    _fields_ = [("text", ctypes.c_char_p), ("extra", ctypes.c_void_p)]

class Arguments(ctypes.Structure):
    _fields_ = [("version", ctypes.c_int32), ("count", ctypes.c_int32), ("options", ctypes.POINTER(Option)),
                ("ignore", ctypes.c_ubyte)]

class Value(ctypes.Union):
    _fields_ = [("object", ctypes.c_void_p), ("long", ctypes.c_int64)]

# Places in the table of functions that the Java Native Interface has.
FIND_CLASS, DESCRIBE, GET_STATIC_METHOD, CALL_STATIC, NEW_STRING, NEW_ARRAY, SET_ELEMENT = 6, 16, 113, 143, 167, 172, 174
POINTER, TEXT = ctypes.c_void_p, ctypes.c_char_p

options = (Option * 2)(Option(b"-Djava.class.path=" + os.environ["CLASSPATH"].encode()), Option(b"-Xmx128m"))
machine, env = POINTER(), ctypes.POINTER(ctypes.POINTER(POINTER))()
made = ctypes.CDLL("libjvm.so").JNI_CreateJavaVM(ctypes.byref(machine), ctypes.byref(env),
                                                 ctypes.byref(Arguments(0x00010008, len(options), options, 0)))
assert made == 0, made

def call(number, result, *arguments):
    kinds = [kind for kind, _ in arguments]
    found = ctypes.CFUNCTYPE(result, POINTER, *kinds)(env.contents[number])(env, *[value for _, value in arguments])
    if result is POINTER and not found:
        call(DESCRIBE, None)
        raise SystemExit("Java found nothing")
    return found

text = call(FIND_CLASS, POINTER, (TEXT, b"java/lang/String"))
words = call(NEW_ARRAY, POINTER, (ctypes.c_int32, len(sys.argv) - 1), (POINTER, text), (POINTER, None))
for number, word in enumerate(sys.argv[1:]):
    made = call(NEW_STRING, POINTER, (TEXT, word.encode()))
    call(SET_ELEMENT, None, (POINTER, words), (ctypes.c_int32, number), (POINTER, made))
shell = call(FIND_CLASS, POINTER, (TEXT, b"org/apache/hadoop/fs/FsShell"))
main = call(GET_STATIC_METHOD, POINTER, (POINTER, shell), (TEXT, b"main"), (TEXT, b"([Ljava/lang/String;)V"))
call(CALL_STATIC, None, (POINTER, shell), (POINTER, main), (ctypes.POINTER(Value), (Value * 1)(Value(object=words))))
"""

SHOW = """
import os
for name in ("CLASSPATH", "JAVA_HOME", "HADOOP_CONF_DIR", "LD_LIBRARY_PATH"):
    print(f"{name}={os.environ.get(name)}")
print("ours", [name for name in os.environ if name.startswith("GANGRUN_APP")])
"""


def shown(jobs, *words):
    jobs.write("show.py", SHOW)
    done = jobs.run("-r", "worker:1", "-m", "128m", *words, "--", "python3", "show.py")
    assert done.returncode == 0, done.stderr
    return dict(re.findall(r"\| ([A-Z_]+)=(.*)", done.stdout)), done.stdout


def test_a_task_reads_hdfs_by_java_in_its_process(jobs, hadoop):
    words = "what only HDFS knows"
    jobs.write("file", words)
    assert hadoop.run("hdfs", "dfs", "-put", "-f", jobs.folder / "file", "/tmp/for-java").returncode == 0
    jobs.write("by_java.py", BY_JAVA)
    # A path without a host: which NameNode it is, the configuration's folder says, on the class path.
    done = jobs.run("-r", "worker:1", "-m", "512m", "--", "python3", "by_java.py", "-cat", "/tmp/for-java")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"| {words}" in done.stdout


def test_the_class_path_names_each_jar_behind_the_configuration(jobs, hadoop):
    found, text = shown(jobs)
    assert (found["JAVA_HOME"], found["HADOOP_CONF_DIR"]) == (hadoop.exports["JAVA_HOME"], str(hadoop.conf_dir))
    first, *jars = found["CLASSPATH"].split(":")
    assert first == str(hadoop.conf_dir)
    assert "*" not in found["CLASSPATH"]
    assert any(os.path.basename(jar).startswith("hadoop-hdfs-client-") for jar in jars)
    assert os.path.exists(os.path.join(found["LD_LIBRARY_PATH"].split(":")[-1], "libjvm.so"))
    assert "ours []" in text


@pytest.mark.parametrize("value", ["/mine/*:/other", ""])
def test_a_class_path_of_the_user_wins(jobs, value):
    assert shown(jobs, "-e", f"CLASSPATH={value}")[0]["CLASSPATH"] == value

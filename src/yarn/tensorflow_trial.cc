#include "yarn/tensorflow_trial.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "base/described_json.h"
#include "base/format.h"
#include "base/json.h"
#include "base/strings.h"

namespace gangrun::yarn {

namespace {

constexpr std::string_view kTrialName = "TensorFlow";
// TensorFlow, Java and libhdfs write to the same streams.
constexpr std::string_view kMark = "gangrun-trial ";
constexpr std::size_t kMaxLineBytes = std::size_t{16} << 10U;
constexpr std::size_t kMaxTrialWords = 400;

constexpr const char* kProgram = R"python(
import importlib.util, json, os, sys
def say(**words):
    print("\ngangrun-trial " + json.dumps(words), flush=True)
def text(error):
    return type(error).__name__ + ": " + " ".join(str(error).split())[:400]
if importlib.util.find_spec("tensorflow") is None:
    say(missing=True)
    sys.exit(0)
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
try:
    import tensorflow as tf
    plugin = importlib.util.find_spec("tensorflow_io") is not None
    if plugin:
        import tensorflow_io
except Exception as error:
    say(broken=text(error))
    sys.exit(0)
for url in sys.argv[1:]:
    error, unknown = "", False
    try:
        with tf.io.gfile.GFile(url, "w") as file:
            file.write("hello from TensorFlow")
        with tf.io.gfile.GFile(url) as file:
            if file.read() != "hello from TensorFlow":
                raise ValueError("the bytes read differ from those written")
        tf.io.gfile.remove(url)
    except Exception as raised:
        error = text(raised)
        unknown = isinstance(raised, tf.errors.UnimplementedError) and not plugin
    say(url=url, version=tf.__version__, error=error, unknown=unknown)
)python";

// A line of the program, which says one of three.
struct Line {
  bool missing = false;
  std::optional<std::string> broken;
  std::optional<std::string> url;  // with all that follows
  std::string version;
  std::string error;
  bool unknown = false;

  static constexpr auto rows() {
    return std::tuple(base::row_if_set("missing", &Line::missing),
                      base::row("broken", &Line::broken), base::row("url", &Line::url),
                      GANGRUN_EACH(base::row_if_set, Line, version, error, unknown));
  }
};

struct Said {
  std::optional<std::string> no_tensorflow;  // the import's error; empty: it is not there
  std::map<std::string, Line> urls;
};

Said said_in(const std::string& output) {
  Said said;
  for (const std::string& line : base::split(output, '\n')) {
    if (!line.starts_with(kMark)) continue;
    const auto json = base::parse_json(line.substr(kMark.size()), kMaxLineBytes);
    const auto told = json.ok() ? base::from_json<Line>(*json) : base::Result<Line>(json.error());
    if (!told.ok()) continue;
    if (told->missing) said.no_tensorflow = "";
    if (told->broken) said.no_tensorflow = told->broken;
    if (told->url) said.urls[*told->url] = *told;
  }
  return said;
}

std::string last_line(std::string_view text) {
  text = base::trim(text);
  return base::shorten(text.substr(text.rfind('\n') + 1), kMaxTrialWords);
}

std::string to_do(const std::string& missing) {
  return missing.empty() ? "check that this Python's TensorFlow, tensorflow-io and libhdfs fit "
                           "together, and fit this Hadoop and Java"
                         : base::format("libhdfs needs more variables; not set: {}", missing);
}

cluster::Check check_of(const std::string& name, const Line& said, const std::string& missing) {
  if (said.error.empty()) {
    return {name, cluster::Verdict::kOk,
            base::format("TensorFlow {} wrote, read and removed a file", said.version)};
  }
  if (said.unknown) {
    return {name, cluster::Verdict::kNotChecked,
            base::format("TensorFlow {} does not know hdfs://", said.version),
            "install the tensorflow-io of this version, if TensorFlow is to use hdfs:// paths"};
  }
  return {name, cluster::Verdict::kWarning,
          base::format("TensorFlow {}: {}", said.version, said.error), to_do(missing)};
}

}  // namespace

std::vector<std::string> tensorflow_trial_argv(const std::string& python,
                                               const std::vector<std::string>& urls) {
  std::vector<std::string> argv{python, "-c", kProgram};
  argv.insert(argv.end(), urls.begin(), urls.end());
  return argv;
}

std::vector<cluster::Check> tensorflow_checks(const std::vector<std::string>& urls,
                                              const TensorflowAnswer& answer,
                                              const std::string& missing) {
  const Said said = said_in(answer.output);
  if (said.no_tensorflow && said.no_tensorflow->empty()) {
    return {
        tensorflow_not_checked(answer.where, base::format("{} has no tensorflow", answer.python))};
  }
  std::vector<cluster::Check> checks;
  for (const std::string& url : urls) {
    const std::string name =
        base::format("{} {}{}", kTrialName, url.substr(0, url.find('/', 7)), answer.where);
    const auto found = said.urls.find(url);
    if (found != said.urls.end()) {
      checks.push_back(check_of(name, found->second, missing));
    } else if (said.no_tensorflow) {
      checks.push_back({name, cluster::Verdict::kWarning,
                        base::format("{}: {}", answer.python, *said.no_tensorflow),
                        "repair this Python, or choose another one with --python"});
    } else {
      checks.push_back({name, cluster::Verdict::kWarning,
                        base::format("{} ended with status {}: {}", answer.python, answer.status,
                                     last_line(answer.output)),
                        to_do(missing)});
    }
  }
  return checks;
}

cluster::Check tensorflow_not_checked(const std::string& where, std::string reason) {
  return {base::format("{}{}", kTrialName, where), cluster::Verdict::kNotChecked,
          std::move(reason)};
}

bool is_about_tensorflow(const cluster::Check& check) { return check.name.starts_with(kTrialName); }

bool has_tensorflow(const std::vector<cluster::Check>& checks) {
  return std::any_of(checks.begin(), checks.end(), [](const cluster::Check& check) {
    return is_about_tensorflow(check) && check.verdict != cluster::Verdict::kNotChecked;
  });
}

}  // namespace gangrun::yarn

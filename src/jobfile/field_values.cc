#include "jobfile/field_values.h"

#include <utility>

#include "base/format.h"
#include "base/strings.h"
#include "job/limits.h"
#include "job/units.h"
#include "jobfile/resources.h"
#include "jobfile/task_fields.h"
#include "jobfile/validate.h"
#include "jobfile/yaml_tree.h"

namespace gangrun::jobfile {

using base::Json;
using base::Result;

Result<> read_texts(const Field& field, const TextsForm& form,
                    std::map<std::string, std::string>& out) {
  if (field.node.kind == YamlNode::Kind::kNull) return {};
  if (field.node.kind != YamlNode::Kind::kMap) return field.not_allowed(form.allowed);
  for (std::size_t i = 0; i < field.node.keys.size(); ++i) {
    const YamlNode::Key& key = field.node.keys[i];
    if (form.check_key != nullptr) {
      const auto valid = form.check_key(key.name);
      if (!valid.ok()) return field.error_at(key.mark, valid.error().message);
    }
    const Field child = field.child(i, key.name);
    field.origins[child.path] = position_text(field.source, key.mark);
    GANGRUN_ASSIGN(out[key.name], read_text(child, form.allowed_text));
  }
  return {};
}

Result<> read_environment(const Field& field, std::map<std::string, std::string>& out) {
  return read_texts(
      field, {.allowed = "a map of variables to texts", .check_key = check_variable_name}, out);
}

Result<> read_archives(const Field& field, std::map<std::string, std::string>& out) {
  return read_texts(field,
                    {.allowed = "a map of folders to archives, for example {env: env.tar.gz}",
                     .allowed_text = "a path or URL of an archive"},
                    out);
}

Result<> read_command(const Field& field, job::Command& out) {
  job::Command command;
  if (field.node.kind == YamlNode::Kind::kList) {
    GANGRUN_ASSIGN(command.words, read_list(field, "words", "a text, one word of the command"));
  } else {
    GANGRUN_ASSIGN(command.shell_line,
                   read_text(field, "a line for the shell, or a list of words"));
  }
  if (command.empty()) return field.error("the command is empty");
  out = std::move(command);
  return {};
}

// Names are checked here, so that an error has the name's line.
Result<> read_resources(const Field& field, std::map<std::string, std::int64_t>& out) {
  if (field.node.kind == YamlNode::Kind::kNull) return {};
  if (field.node.kind != YamlNode::Kind::kMap) {
    return field.not_allowed("a map of resources to numbers, for example {yarn.io/fpga: 1}");
  }
  for (std::size_t i = 0; i < field.node.keys.size(); ++i) {
    const YamlNode::Key& key = field.node.keys[i];
    if (auto valid = check_resource_name(key.name); !valid.ok()) {
      return field.error_at(key.mark, valid.error().message);
    }
    const Field child = field.child(i, key.name);
    field.origins[child.path] = position_text(field.source, child.node.mark);
    std::optional<std::int64_t> amount = number_in(child.node, 0, job::kMaxResourceAmount);
    if (!amount) GANGRUN_TRY(read_scalar(child, "a whole number", parse_resource_amount, amount));
    out[key.name] = *amount;
  }
  return {};
}

Result<> read_overrides(const Field& field, std::map<int, job::ResourceOverride>& out) {
  if (field.node.kind == YamlNode::Kind::kNull) return {};
  if (field.node.kind != YamlNode::Kind::kMap) {
    return field.not_allowed(
        base::format("a map of task indexes to {}", base::join(keys_of(override_fields()), ", ")));
  }
  for (std::size_t i = 0; i < field.node.keys.size(); ++i) {
    const YamlNode::Key& key = field.node.keys[i];
    const auto index = job::parse_count(key.name, 0, job::kMaxTasks - 1);
    if (!index.ok()) {
      return field.error_at(key.mark, base::format("index {}", index.error().message));
    }
    const Field child = field.child(i, std::to_string(*index));
    const auto [entry, is_new] = out.emplace(*index, job::ResourceOverride{});
    if (!is_new) return field.error_at(key.mark, base::format("index {} is given twice", *index));
    field.origins[child.path] = position_text(field.source, key.mark);
    GANGRUN_TRY(read_fields(child, override_fields(), entry->second));
  }
  return {};
}

Result<> read_port_names(const Field& field, std::vector<std::string>& out) {
  GANGRUN_ASSIGN(out, read_list(field, "names", "the name of a port"));
  if (out.empty()) return field.error("no port is named; allowed: one name or more");
  return {};
}

Json overrides_json(const std::map<int, job::ResourceOverride>& overrides, job::PlanForm form) {
  Json json;
  for (const auto& [index, own] : overrides) {
    json[std::to_string(index)] = json_of_fields(override_fields(), own, form);
  }
  return json;
}

Json command_json(const job::Command& command) {
  if (command.empty()) return {};
  if (command.words.empty()) return command.shell_line;
  return command.words;
}

Result<> read_pod(const Field& field, Json& pod) {
  if (field.node.kind != YamlNode::Kind::kNull && field.node.kind != YamlNode::Kind::kMap) {
    return field.not_allowed("a map, a pod or a part of one as {spec: {hostNetwork: true}}");
  }
  pod = json_value(field.node);
  return {};
}

}  // namespace gangrun::jobfile

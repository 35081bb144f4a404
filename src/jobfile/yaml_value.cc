#include "jobfile/yaml_value.h"

#include <cstddef>

#include "jobfile/yaml_scalar.h"

namespace gangrun::jobfile {

base::Json json_value(const YamlNode& node) {
  base::Json json;
  switch (node.kind) {
    case YamlNode::Kind::kNull: break;
    case YamlNode::Kind::kScalar:
      json = node.is_quoted ? base::Json(node.text) : yaml_scalar(node.text);
      break;
    case YamlNode::Kind::kList:
      json = base::Json::array();
      for (const YamlNode& child : node.children) json.push_back(json_value(child));
      break;
    case YamlNode::Kind::kMap:
      json = base::Json::object();
      for (std::size_t i = 0; i < node.keys.size(); ++i) {
        json[node.keys[i].name] = json_value(node.children[i]);
      }
      break;
  }
  return json;
}

}  // namespace gangrun::jobfile

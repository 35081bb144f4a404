#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "zookeeper/node.h"

namespace gangrun::zookeeper {

// Operations without an answer; the others wait.
inline constexpr std::size_t kMaxUnderWay = 256;

// Which operations make the nodes on a server those that are wanted. No socket, no clock: it is
// told of connections and answers. A server carries out the operations of one session in their
// order, so a parent and its child are requested without waiting between them.
class Keeper {
 public:
  // All nodes that are wanted from now on, instead of those before. What was made and is no longer
  // wanted is removed; of nodes of an earlier process nothing is known.
  void want(std::vector<Node> nodes);

  // A new connection, of the same session or another one: which nodes are there is found out again.
  void connected();
  void disconnected();

  // The operations to be sent now, in this order; done() answers each.
  std::vector<Operation> next();
  void done(const Operation& operation, const ServerAnswer& answer);
  // Operations that have failed are tried again.
  void retry();

  // Whether the server has exactly what is wanted.
  [[nodiscard]] bool is_settled() const;
  // Whether enough was answered to ask next(), which looks at every node.
  [[nodiscard]] bool has_room() const { return under_way_ <= kMaxUnderWay / 2; }
  // Whether something waits for retry().
  [[nodiscard]] bool has_failed() const { return has_failed_; }
  // The first failure since connected() or retry(), for people; empty: none since connected().
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  enum class Stage {
    kUnknown,  // it may be there or not
    kTaken,    // is there, perhaps of an earlier session
    kOther,    // is there, of another session
    kStale,    // is there, with data that is not known
    kThere,    // is there as it was written last
    kFailed,
  };
  struct Entry {
    std::optional<Node> wanted;
    Stage stage = Stage::kUnknown;
    std::string written;
    bool is_under_way = false;
    // How it was made: what is no longer wanted is removed by that.
    Kind kind = Kind::kPersistent;
    bool is_shared = false;

    // Not removed: others use it, and it does not go by itself.
    [[nodiscard]] bool is_left_to_others() const {
      return !wanted && is_shared && kind == Kind::kPersistent;
    }
  };

  [[nodiscard]] std::optional<Operation> step_of(const std::string& path, const Entry& entry) const;
  void created(Entry& entry, const ServerAnswer& answer);
  void doubt_parents_of(const std::string& path);
  void fail(Entry& entry, const Operation& operation, const ServerAnswer& answer);

  std::map<std::string, Entry> entries_;  // by path: a parent comes before its children
  bool is_connected_ = false;
  bool has_containers_ = true;
  std::size_t under_way_ = 0;
  bool has_failed_ = false;
  std::string trouble_;
};

}  // namespace gangrun::zookeeper

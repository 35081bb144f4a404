#pragma once

#include <string>

namespace gangrun::zookeeper {

enum class Kind {
  kPersistent,
  // The server removes it some time after its last child has gone. A server before 3.5.3 has no
  // such nodes: there it is a persistent one.
  kContainer,
  kEphemeral,  // goes with the session that has made it
};

enum class Access {
  kAnyone,  // may do everything: how Hadoop's registry makes its own nodes without Kerberos
  kOwnerAndReaders,  // who has the credentials may do everything, anyone may read
  kOwner,            // who has the credentials may do everything, others nothing
};

// One of those who may do everything with all nodes that are not anyone's: an id of ZooKeeper's
// ACLs, such as "digest" and "ann:HASH".
struct Administrator {
  std::string scheme{};
  std::string id{};

  friend bool operator==(const Administrator&, const Administrator&) = default;
};

// A node as it is to be.
struct Node {
  std::string path{};  // from the root: "/registry/users"
  std::string data{};
  Kind kind = Kind::kPersistent;
  Access access = Access::kOwnerAndReaders;
  // Others use it too: it is made where it is missing and left as it is where it is there.
  bool is_shared = false;

  friend bool operator==(const Node&, const Node&) = default;
};

// One thing that a server is asked to do.
struct Operation {
  enum class Verb {
    kCreate,
    kSet,
    kDelete,
    kLook,  // whether the node is there and of our own session
  };

  Verb verb = Verb::kCreate;
  Node node{};  // all of it for kCreate, path and data for kSet, else the path

  friend bool operator==(const Operation&, const Operation&) = default;
};

// The outcome of an operation.
struct ServerAnswer {
  enum class Code {
    kDone,
    kExists,
    kMissing,   // the node, or for kCreate its parent
    kNotEmpty,  // it has children
    kUnsupported,
    kLost,  // with the connection: it was done or not
    kFailed,
  };

  Code code = Code::kDone;
  bool is_ours = false;  // of kLook: our own session has made it
  std::string reason{};  // of kFailed, for people

  friend bool operator==(const ServerAnswer&, const ServerAnswer&) = default;
};

}  // namespace gangrun::zookeeper

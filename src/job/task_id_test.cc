#include "job/task_id.h"

#include <gmock/gmock.h>

namespace gangrun::job {
namespace {

TEST(TaskId, ReadsWhatItWrites) {
  for (const TaskId& task : {TaskId{"worker", 0}, TaskId{"a-b_2", 9999}}) {
    const auto back = parse_task_id(to_string(task));
    ASSERT_TRUE(back.ok());
    EXPECT_EQ(*back, task);
  }
}

TEST(TaskId, RefusesWithTheText) {
  for (const char* text : {"", "worker", "worker:", ":1", "worker:-1", "worker:1x", "2w:1",
                           "worker:99999999", "a b:1", "a:b:1"}) {
    const auto task = parse_task_id(text);
    ASSERT_FALSE(task.ok()) << text;
    EXPECT_THAT(task.error().message, testing::StartsWith("'" + std::string(text) + "' is not"));
  }
}

TEST(TypeName, FitsFileNamesAndVariables) {
  EXPECT_TRUE(is_valid_type_name("w"));
  EXPECT_TRUE(is_valid_type_name(std::string(40, 'w')));
  for (const char* name : {"", "1w", "_w", "w/x", "w.x", "w x", "ü"}) {
    EXPECT_FALSE(is_valid_type_name(name)) << name;
  }
  EXPECT_FALSE(is_valid_type_name(std::string(41, 'w')));
}

}  // namespace
}  // namespace gangrun::job

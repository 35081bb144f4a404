#pragma once

#include <proto/hadoop/yarn_client.pb.h>

#include "hadoop/messages_internal.h"

// Between the records of applications and queues, and their messages.
namespace gangrun::hadoop {

void write(const Submission& submission, yarn::ApplicationSubmissionContextProto& out);

ApplicationReport read(const yarn::ApplicationReportProto& in);
ContainerReport read(const yarn::ContainerReportProto& in);
QueueInfo read(const yarn::QueueInfoProto& in);

}  // namespace gangrun::hadoop

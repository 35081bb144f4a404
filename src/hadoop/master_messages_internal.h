#pragma once

#include <proto/hadoop/yarn_master.pb.h>

#include "hadoop/application_master.h"
#include "hadoop/messages_internal.h"

// Between what an ApplicationMaster and the ResourceManager say to each other, and its messages.
namespace gangrun::hadoop {

// But for the number of the last response, which the client knows.
void write(const AllocateRequest& request, yarn::AllocateRequestProto& out);
void write(const SchedulingRequest& request, yarn::SchedulingRequestProto& out);

Container read(const yarn::ContainerProto& in);
NodeToken read(const yarn::NMTokenProto& in);
Registered read(const yarn::RegisterApplicationMasterResponseProto& in);
SchedulingRequest read(const yarn::SchedulingRequestProto& in);
AllocateResponse read(const yarn::AllocateResponseProto& in);

}  // namespace gangrun::hadoop

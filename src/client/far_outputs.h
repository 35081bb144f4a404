#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "client/transfer_progress.h"
#include "cluster/far_file.h"
#include "cluster/site.h"

namespace gangrun::client {

// Gives one of them, piece by piece. An error of the sink is passed on.
using ReadFar = std::function<base::Result<>(const cluster::FarFile&, const cluster::ResultSink&)>;

// Brings the files to a folder of each task in `folder`. What is there already as it is elsewhere
// is not brought again; one that has no place here stops no other, and is named in the error.
base::Result<> bring(const std::vector<cluster::FarFile>& files, const ReadFar& read,
                     const std::string& folder, TransferProgress& progress);

}  // namespace gangrun::client

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "job/status.h"
#include "kubernetes/client.h"
#include "kubernetes/records/head.h"
#include "kubernetes/records/record_place.h"
#include "net/event_loop.h"

// Reads a job's records, running the loop meanwhile: not from inside a callback.
namespace gangrun::kubernetes::records {

// kNotFound: the job is not there (any more).
base::Result<ReadHead> read_head(net::EventLoop& loop, kubernetes::Client& client,
                                 const std::string& name_space, const std::string& head_name,
                                 base::Instant deadline);

// The parts of one chain; of one that the head does not have, none.
base::Result<std::vector<std::string>> read_chain(const RecordPlace& place, const Head& head,
                                                  const std::string& chain, base::Instant deadline);

// The journal in a local folder, which is there: one file for each segment.
base::Result<> fetch_journal(const RecordPlace& place, const Head& head, const std::string& to,
                             base::Instant deadline);
// The same of the keys, as agents::KeyLog reads them.
base::Result<> fetch_keys(const RecordPlace& place, const Head& head, const std::string& to,
                          base::Instant deadline);
// kNotFound: this task has left no result.
base::Result<std::string> read_result(const RecordPlace& place, const Head& head,
                                      const std::string& name, base::Instant deadline);

// The words about a job whose masters are gone: its recorded end, else what its journal decides.
// None: no master came so far as to record anything.
base::Result<std::optional<job::JobStatus>> left_status(const RecordPlace& place, const Head& head,
                                                        const base::Clock& clock,
                                                        base::Instant deadline);

}  // namespace gangrun::kubernetes::records

// SPDX-License-Identifier: BSD-3-Clause
#include "core/base/settings.hpp"

#include <array>
#include <cstdlib>
#include <cstring>

namespace oriel {
namespace {

constexpr std::array table{
    Setting{"ORIEL_DISABLE", "bool", "0",
            "Leave all windows to the host MPI; the library then only forwards."},
    Setting{"ORIEL_INFO", "bool", "0",
            "Rank 0 of each new window prints which path every peer takes, and what carries "
            "operations between nodes; of a persistent alltoallv what auto is, and why."},
    Setting{"ORIEL_LIBRARY_VERSION", "text", "",
            "What MPI_Get_library_version returns, for programs that do less on an MPI whose name "
            "they find there; empty: the host MPI's text with Oriel's name and version behind it."},
    Setting{"ORIEL_AWAIT_ACCESS", "text", "result",
            "The call that waits for a target on the node, for windows without the info key "
            "oriel_await_access: result, a get or fetch in a lock epoch; completion, flushes and "
            "closing calls alone; opening, MPI_Win_lock and the like, as with other MPIs."},
    Setting{"ORIEL_TRACE", "text", "",
            "File to which each process appends a line per event, for debugging: steps of epochs, "
            "operations beyond the hot paths, waits; empty: none."},
    Setting{
        "ORIEL_REPORT", "text", "0",
        "Folder in which each rank records what it waits for, for `oriel report`; 1: oriel-report "
        "in the current folder, and rank 0 prints the table when MPI ends; 0: nothing is recorded. "
        "A rank does not overwrite the record of an "
        "earlier run."},
    Setting{"ORIEL_TIMELINE", "bool", "0",
            "With ORIEL_REPORT: each rank also records every operation, the notifications that it "
            "takes, transfers of persistent collectives, and sweeps of its progress agent."},
    Setting{"ORIEL_STALL", "int", "30",
            "Seconds after which a call that waits says on standard error what it waits for, and "
            "what the ranks do that it waits for, once for each place in the program; 0: never."},
    Setting{"ORIEL_STALL_SIGNAL", "int", "0",
            "Number of a signal, such as 10 for SIGUSR1, on which a rank says the same of the call "
            "that it waits in; 0: none."},
    Setting{"ORIEL_COLLECTIVES", "bool", "0",
            "Carry out MPI_Alltoallv_init also where its info does not name oriel_alltoallv."},
    Setting{"ORIEL_MEASURED", "text", "",
            "File in which oriel bench alltoallv keeps what it measures, and by which rank 0 of a "
            "communicator chooses where oriel_alltoallv is auto; empty: oriel/alltoallv in "
            "XDG_CACHE_HOME or .cache of the home directory; 0: none."},
    Setting{"ORIEL_VM", "bool", "1",
            "Reach private memory of node peers by process_vm_readv and process_vm_writev, and let "
            "them reach ours; 0 sends messages that the target serves."},
    Setting{"ORIEL_XPMEM", "text", "",
            "File of the libxpmem by which node peers map each other's private memory; empty: the "
            "system's, where there is /dev/xpmem; 0: none."},
    Setting{"ORIEL_MEMFD", "bool", "1",
            "Share memory through a memfd; 0, or where memfd_create fails: POSIX shared memory, "
            "unlinked at once."},
    Setting{
        "ORIEL_SPIN", "int", "2000",
        "How many sweeps a waiting call makes before it begins to yield the processor. With more "
        "ranks on the node than cores it yields from the beginning."},
    Setting{"ORIEL_YIELD", "int", "20000",
            "How many times a waiting call yields before it sleeps until a peer wakes it: some ten "
            "milliseconds. With more ranks on the node than cores it is a tenth of that."},
    Setting{"ORIEL_AGENT_INTERVAL", "int", "200",
            "Microseconds without an MPI call that makes progress, after which a thread serves "
            "remote ranks until there is one. 0: no such thread; ranks are then served only in MPI "
            "calls."},
    Setting{
        "ORIEL_CROWDED", "bool", "0",
        "Wait as with more ranks on the node than cores, which is otherwise found out: for ranks "
        "that share their cores with other programs."},
    Setting{
        "ORIEL_OFI_PROVIDER", "text", "",
        "libfabric's provider between nodes, for example tcp or verbs;ofi_rxm; empty: the first "
        "network that all ranks have. The same on all nodes."},
    Setting{"ORIEL_OFI_DOMAIN", "text", "",
            "libfabric's domain between nodes, which names the card, for example mlx5_0 or cxi1; "
            "empty: the nearest card."},
    Setting{"ORIEL_OFI_DIRECT", "bool", "1",
            "Puts and gets between nodes are direct transfers (RDMA) where the provider has them: "
            "those of every length if a card carries them out, else long ones; 0: messages alone."},
    Setting{"ORIEL_OFI_LIBRARY", "text", "",
            "File of the libfabric to use, or of a library that stands before it; empty: the one "
            "that the host MPI has loaded, else one beside the host MPI, else the system's."},
    Setting{"ORIEL_PEER_TIMEOUT", "int", "10",
            "Seconds that a node may be silent before calls that wait for it fail."},
    Setting{"ORIEL_ROLL_CALL", "int", "60",
            "Seconds for which the first window on a communicator waits for the answer of a rank "
            "that has begun to make it. After that the rank counts as running without Oriel, and "
            "the job ends. 0: no limit."},
};

}  // namespace

std::span<const Setting> settings() {
  return table;
}

const char* setting_text(const char* name) {
  if (const char* value = ::secure_getenv(name)) return value;
  for (const Setting& setting : table) {
    if (std::strcmp(setting.name, name) == 0) return setting.default_value;
  }
  std::abort();
}

bool setting_bool(const char* name) {
  const char* value = setting_text(name);
  return std::strcmp(value, "0") != 0 && std::strcmp(value, "false") != 0 &&
         std::strcmp(value, "no") != 0 && *value != '\0';
}

long setting_int(const char* name) {
  return std::strtol(setting_text(name), nullptr, 10);
}

}  // namespace oriel

// SPDX-License-Identifier: BSD-3-Clause
#include "support/fake_host.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace oriel::test {
namespace {

// Handles are numbered within a range for each kind, as MPICH's are.
constexpr int first_type = static_cast<int>(0xcc000000);
constexpr int first_communicator = static_cast<int>(0xc4000000);
constexpr int first_info = static_cast<int>(0x9c000000);
constexpr int first_request = static_cast<int>(0xac000000);
constexpr int first_group = static_cast<int>(0xc8000000);
constexpr int first_handler = static_cast<int>(0x94000000);
constexpr int first_keyval = 0x64400000;

using Attributes = std::map<int, void*>;

struct Type : FakeType {
  int references = 1;  // 0: freed. The host keeps its memory, as MPICH does.
  Attributes attributes;
  std::string name;
};

struct Communicator {
  int size = 1;
  Peer peer;
  Attributes attributes;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
};

struct Request {
  bool persistent = false;
  bool active = true;
  bool complete = false;
  int tag = 0;
  int error = MPI_SUCCESS;
};

struct Keyval {
  MPI_Type_delete_attr_function* of_types = nullptr;
  void* extra = nullptr;
};

struct Host {
  int next = 1;
  std::map<MPI_Datatype, Type> types;
  std::map<MPI_Comm, Communicator> communicators{{MPI_COMM_WORLD, {}}, {MPI_COMM_SELF, {}}};
  std::map<MPI_Info, std::map<std::string, std::string>> infos;
  std::map<MPI_Request, Request> requests;
  std::set<MPI_Group> groups;
  std::map<MPI_Errhandler, MPI_Comm_errhandler_function*> handlers;
  std::map<int, Keyval> keyvals;
  std::map<int, int> error_classes;  // of codes that were added
  std::map<int, std::string> error_strings;
  std::vector<RaisedError> raised;
  CollectiveCounts counts;
};

Host& host() {
  static Host one;
  return one;
}

int make(int first) {
  return first + host().next++;
}

template <typename Map, typename Handle>
auto* look(Map& map, Handle handle) {
  const auto found = map.find(handle);
  return found != map.end() ? &found->second : nullptr;
}

struct Predefined {
  int size, true_extent, extent;
};

/// Handles of MPICH's basic types have their sizes in them; those of pair types have not.
std::optional<Predefined> predefined(MPI_Datatype type) {
  switch (type) {
    case MPI_FLOAT_INT:
      return Predefined{8, 8, 8};
    case MPI_DOUBLE_INT:
    case MPI_LONG_INT:
      return Predefined{12, 12, 16};
    case MPI_SHORT_INT:
      return Predefined{6, 8, 8};
    case MPI_LONG_DOUBLE_INT:
      return Predefined{20, 20, 32};
    default:
      break;
  }
  const auto number = static_cast<unsigned>(type);
  if (number >> 16 != 0x4c00) return std::nullopt;
  const int size = static_cast<int>(number >> 8 & 0xff);
  return Predefined{size, size, size};
}

int raise_error(int code) {
  std::array<char, MPI_MAX_ERROR_STRING + 1> text{};
  int length = 0;
  int error_class = MPI_SUCCESS;
  PMPI_Error_class(code, &error_class);
  PMPI_Error_string(code, text.data(), &length);
  host().raised.push_back({error_class, text.data()});
  return MPI_SUCCESS;
}

/// One process's part of a collective: its data in the places of all ranks, then the peer's
/// changes.
int collect(MPI_Comm comm, const char* name, int& counted, const void* own, void* all,
            std::size_t bytes, bool gathered) {
  Communicator* known = look(host().communicators, comm);
  if (known == nullptr) return MPI_ERR_COMM;
  ++counted;
  const int copies = gathered ? known->size : 1;
  for (int i = 0; i < copies && bytes != 0 && own != nullptr; ++i) {
    std::memcpy(static_cast<char*>(all) + static_cast<std::size_t>(i) * bytes, own, bytes);
  }
  if (known->peer) known->peer(name, all, bytes * static_cast<std::size_t>(copies));
  return MPI_SUCCESS;
}

/// MPICH 3.4 refuses null pointers also for lists of no elements.
template <typename... Lists>
bool any_null(const Lists*... lists) {
  return (... || (lists == nullptr));
}

std::size_t bytes_of(int count, MPI_Datatype type) {
  const auto known = predefined(type);
  return known ? static_cast<std::size_t>(count) * static_cast<std::size_t>(known->size) : 0;
}

int allgather(const void* own, void* all, int count, MPI_Datatype type, MPI_Comm comm) {
  return collect(comm, "Allgather", host().counts.allgather, own, all, bytes_of(count, type), true);
}
int allreduce(const void* own, void* all, int count, MPI_Datatype type, MPI_Comm comm) {
  return collect(comm, "Allreduce", host().counts.allreduce, own, all, bytes_of(count, type),
                 false);
}
int bcast(void* bytes, int count, MPI_Datatype type, MPI_Comm comm) {
  return collect(comm, "Bcast", host().counts.bcast, nullptr, bytes, bytes_of(count, type), false);
}
int barrier(MPI_Comm comm) {
  return collect(comm, "Barrier", host().counts.barrier, nullptr, nullptr, 0, false);
}

MPI_Request complete_from_the_start() {
  const MPI_Request request = make_request();
  complete_request(request);
  return request;
}

bool idle(MPI_Request handle) {
  if (handle == MPI_REQUEST_NULL) return true;
  const Request* request = look(host().requests, handle);
  return request == nullptr || !request->active;
}

void fill(const Request* request, MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = request == nullptr ? MPI_ANY_SOURCE : 0;
  status->MPI_TAG = request == nullptr ? MPI_ANY_TAG : request->tag;
}

/// Ends a complete request: its error, and the handle is null unless it is persistent.
int end(MPI_Request* handle, MPI_Status* status) {
  Request* request = look(host().requests, *handle);
  if (idle(*handle)) {
    fill(nullptr, status);
    return MPI_SUCCESS;
  }
  const int error = request->error;
  fill(request, status);
  if (request->persistent) {
    request->active = request->complete = false;
    return error;
  }
  host().requests.erase(*handle);
  *handle = MPI_REQUEST_NULL;
  return error;
}

/// MPI_Test and MPI_Request_get_status differ in whether the request ends.
int test(MPI_Request* handle, bool ends, int* flag, MPI_Status* status) {
  *flag = 1;
  if (idle(*handle)) {
    fill(nullptr, status);
    return MPI_SUCCESS;
  }
  const Request& request = host().requests.at(*handle);
  *flag = request.complete ? 1 : 0;
  if (*flag == 0) return MPI_SUCCESS;
  if (ends) return end(handle, status);
  fill(&request, status);
  return request.error;
}

MPI_Status* at(MPI_Status* statuses, int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i;
}

int test_any(int count, MPI_Request* handles, bool ends, int* index, int* flag,
             MPI_Status* status) {
  bool waiting = false;
  for (int i = 0; i < count; ++i) {
    if (idle(handles[i])) continue;
    const int code = test(&handles[i], ends, flag, status);
    if (*flag != 0) {
      *index = i;
      return code;
    }
    waiting = true;
  }
  *flag = waiting ? 0 : 1;
  *index = MPI_UNDEFINED;
  if (!waiting) fill(nullptr, status);
  return MPI_SUCCESS;
}

int test_some(int count, MPI_Request* handles, bool ends, int* done, int* indices,
              MPI_Status* statuses) {
  bool active = false;
  bool failed = false;
  *done = 0;
  std::vector<int> codes;
  for (int i = 0; i < count; ++i) {
    if (idle(handles[i])) continue;
    active = true;
    int flag = 0;
    const int code = test(&handles[i], ends, &flag, at(statuses, *done));
    if (flag == 0) continue;
    failed |= code != MPI_SUCCESS;
    codes.push_back(code);
    indices[(*done)++] = i;
  }
  if (!active) *done = MPI_UNDEFINED;
  if (!failed) return MPI_SUCCESS;
  for (std::size_t i = 0; statuses != MPI_STATUSES_IGNORE && i < codes.size(); ++i) {
    statuses[i].MPI_ERROR = codes[i];
  }
  return MPI_ERR_IN_STATUS;
}

int test_all(int count, MPI_Request* handles, bool ends, int* flag, MPI_Status* statuses) {
  *flag = std::all_of(handles, handles + count, [](MPI_Request handle) {
    return idle(handle) || host().requests.at(handle).complete;
  });
  if (*flag == 0) return MPI_SUCCESS;
  bool failed = false;
  std::vector<int> codes;
  for (int i = 0; i < count; ++i) {
    int done = 0;
    codes.push_back(test(&handles[i], ends, &done, at(statuses, i)));
    failed |= codes.back() != MPI_SUCCESS;
  }
  if (!failed) return MPI_SUCCESS;
  for (std::size_t i = 0; statuses != MPI_STATUSES_IGNORE && i < codes.size(); ++i) {
    statuses[i].MPI_ERROR = codes[i];
  }
  return MPI_ERR_IN_STATUS;
}

/// Waits as a host does, in its progress engine. Nobody completes a request of this host meanwhile
/// but a hook of the MPI layer's, so a wait that lasts is a mistake of the test.
template <typename Test>
int wait(Test&& test) {
  constexpr int polls = 1'000'000;
  for (int i = 0; i < polls; ++i) {
    int flag = 0;
    const int code = test(&flag);
    if (code != MPI_SUCCESS || flag != 0) return code;
    make_progress();
  }
  std::fputs("fake host: a wait that never ends\n", stderr);
  std::abort();
}

}  // namespace

MPI_Datatype make_type(FakeType type) {
  const MPI_Datatype handle = make(first_type);
  Type made;
  static_cast<FakeType&>(made) = std::move(type);
  host().types.emplace(handle, std::move(made));
  return handle;
}

int live_types() {
  int live = 0;
  for (const auto& [handle, type] : host().types) live += type.references;
  return live;
}

MPI_Request make_request(bool persistent) {
  const MPI_Request handle = make(first_request);
  Request request;
  request.persistent = persistent;
  request.active = !persistent;
  host().requests.emplace(handle, request);
  return handle;
}

void complete_request(MPI_Request handle, int tag, int error) {
  Request& request = host().requests.at(handle);
  request.complete = true;
  request.tag = tag;
  request.error = error;
}

bool has_request(MPI_Request request) {
  return host().requests.contains(request);
}

const std::vector<RaisedError>& raised_errors() {
  return host().raised;
}

void clear_errors() {
  host().raised.clear();
}

const CollectiveCounts& collective_counts() {
  return host().counts;
}

int live_groups() {
  return static_cast<int>(host().groups.size());
}

MPI_Comm make_communicator(int size, Peer peer) {
  const MPI_Comm comm = make(first_communicator);
  Communicator made;
  made.size = size;
  made.peer = std::move(peer);
  host().communicators.emplace(comm, std::move(made));
  return comm;
}

}  // namespace oriel::test

using namespace oriel::test;

extern "C" {

int MPIR_Dup_fn(MPI_Comm, int, void*, void* in, void* out, int* flag) {
  *static_cast<void**>(out) = in;
  *flag = 1;
  return MPI_SUCCESS;
}

// Starting, threads, version.

int PMPI_Initialized(int* flag) {
  *flag = 1;
  return MPI_SUCCESS;
}
int PMPI_Finalized(int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}
int PMPI_Query_thread(int* level) {
  *level = MPI_THREAD_SINGLE;
  return MPI_SUCCESS;
}
int PMPI_Get_library_version(char* version, int* length) {
  *length = std::snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING, "a fake host");
  return MPI_SUCCESS;
}
// By this one Oriel finds an MPI library.
int PMPI_Get_processor_name(char* name, int* length) {
  *length = std::snprintf(name, MPI_MAX_PROCESSOR_NAME, "node");
  return MPI_SUCCESS;
}

// Errors.

int PMPI_Add_error_class(int* error_class) {
  *error_class = host().next++ + 1000;
  host().error_classes[*error_class] = *error_class;
  return MPI_SUCCESS;
}
int PMPI_Add_error_code(int error_class, int* code) {
  *code = host().next++ + 1'000'000;
  host().error_classes[*code] = error_class;
  return MPI_SUCCESS;
}
int PMPI_Add_error_string(int code, const char* text) {
  host().error_strings[code] = text;
  return MPI_SUCCESS;
}
int PMPI_Error_class(int code, int* error_class) {
  const int* known = look(host().error_classes, code);
  *error_class = known != nullptr ? *known : code;
  return MPI_SUCCESS;
}
int PMPI_Error_string(int code, char* text, int* length) {
  const std::string* known = look(host().error_strings, code);
  *length = std::snprintf(text, MPI_MAX_ERROR_STRING, "%s", known != nullptr ? known->c_str() : "");
  return MPI_SUCCESS;
}
int PMPI_Comm_call_errhandler(MPI_Comm, int code) {
  return raise_error(code);
}
int PMPI_Session_call_errhandler(MPI_Session, int code) {
  return PMPI_Comm_call_errhandler(MPI_COMM_SELF, code);
}
int PMPI_Comm_get_errhandler(MPI_Comm, MPI_Errhandler* handler) {
  *handler = MPI_ERRORS_RETURN;
  return MPI_SUCCESS;
}
int PMPI_Session_get_errhandler(MPI_Session, MPI_Errhandler* handler) {
  *handler = MPI_ERRORS_RETURN;
  return MPI_SUCCESS;
}
int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function* function, MPI_Errhandler* handler) {
  *handler = make(first_handler);
  host().handlers[*handler] = function;
  return MPI_SUCCESS;
}
int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
  Communicator* known = look(host().communicators, comm);
  if (known == nullptr) return MPI_ERR_COMM;
  known->handler = handler;
  return MPI_SUCCESS;
}
int PMPI_Errhandler_free(MPI_Errhandler* handler) {
  *handler = MPI_ERRHANDLER_NULL;
  return MPI_SUCCESS;
}

// Communicators and groups.

int PMPI_Comm_rank(MPI_Comm comm, int* rank) {
  *rank = 0;
  return look(host().communicators, comm) != nullptr ? MPI_SUCCESS : MPI_ERR_COMM;
}
int PMPI_Comm_size(MPI_Comm comm, int* size) {
  const Communicator* known = look(host().communicators, comm);
  if (known == nullptr) return MPI_ERR_COMM;
  *size = known->size;
  return MPI_SUCCESS;
}
int PMPI_Comm_test_inter(MPI_Comm comm, int* flag) {
  *flag = 0;
  return look(host().communicators, comm) != nullptr ? MPI_SUCCESS : MPI_ERR_COMM;
}
int PMPI_Comm_split(MPI_Comm, int, int, MPI_Comm* made) {
  *made = make_communicator(1);
  return MPI_SUCCESS;
}
int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  const Communicator copy = host().communicators.at(comm);
  *made = make_communicator(copy.size, copy.peer);
  host().communicators.at(*made).attributes = copy.attributes;
  return MPI_SUCCESS;
}
int PMPI_Comm_create(MPI_Comm comm, MPI_Group, MPI_Comm* made) {
  const Communicator parent = host().communicators.at(comm);
  ++host().counts.comm_create;
  *made = make_communicator(parent.size, parent.peer);
  return MPI_SUCCESS;
}
int PMPI_Comm_free(MPI_Comm* comm) {
  host().communicators.erase(*comm);
  *comm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}
int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function*, MPI_Comm_delete_attr_function*,
                            int* keyval, void*) {
  *keyval = make(first_keyval);
  return MPI_SUCCESS;
}
int PMPI_Comm_free_keyval(int* keyval) {
  *keyval = MPI_KEYVAL_INVALID;
  return MPI_SUCCESS;
}
int PMPI_Comm_set_attr(MPI_Comm comm, int keyval, void* value) {
  host().communicators.at(comm).attributes[keyval] = value;
  return MPI_SUCCESS;
}
int PMPI_Comm_get_attr(MPI_Comm comm, int keyval, void* value, int* found) {
  void* const* known = look(host().communicators.at(comm).attributes, keyval);
  *found = known != nullptr ? 1 : 0;
  if (known != nullptr) std::memcpy(value, known, sizeof *known);
  return MPI_SUCCESS;
}
int PMPI_Comm_group(MPI_Comm, MPI_Group* group) {
  *group = make(first_group);
  host().groups.insert(*group);
  return MPI_SUCCESS;
}
int PMPI_Group_size(MPI_Group group, int* size) {
  *size = group == MPI_GROUP_EMPTY ? 0 : 1;
  return MPI_SUCCESS;
}
int PMPI_Group_translate_ranks(MPI_Group, int count, const int* ranks, MPI_Group, int* found) {
  if (any_null(ranks, found)) return MPI_ERR_ARG;
  std::copy_n(ranks, count, found);
  return MPI_SUCCESS;
}
int PMPI_Group_excl(MPI_Group, int, const int* ranks, MPI_Group* group) {
  if (any_null(ranks)) return MPI_ERR_ARG;
  return PMPI_Comm_group(MPI_COMM_SELF, group);
}
int PMPI_Group_free(MPI_Group* group) {
  const bool known = host().groups.erase(*group) != 0;
  *group = MPI_GROUP_NULL;
  return known ? MPI_SUCCESS : MPI_ERR_GROUP;
}

// Collectives.

int PMPI_Allgather(const void* own, int, MPI_Datatype, void* all, int count, MPI_Datatype type,
                   MPI_Comm comm) {
  return allgather(own, all, count, type, comm);
}
int PMPI_Allreduce(const void* own, void* all, int count, MPI_Datatype type, MPI_Op,
                   MPI_Comm comm) {
  return allreduce(own, all, count, type, comm);
}
int PMPI_Bcast(void* bytes, int count, MPI_Datatype type, int, MPI_Comm comm) {
  return bcast(bytes, count, type, comm);
}
int PMPI_Barrier(MPI_Comm comm) {
  return barrier(comm);
}

// The nonblocking ones are complete at once, and counted as the others.

int PMPI_Iallgather(const void* own, int, MPI_Datatype, void* all, int count, MPI_Datatype type,
                    MPI_Comm comm, MPI_Request* request) {
  *request = complete_from_the_start();
  return allgather(own, all, count, type, comm);
}
int PMPI_Iallreduce(const void* own, void* all, int count, MPI_Datatype type, MPI_Op, MPI_Comm comm,
                    MPI_Request* request) {
  *request = complete_from_the_start();
  return allreduce(own, all, count, type, comm);
}
int PMPI_Ibcast(void* bytes, int count, MPI_Datatype type, int, MPI_Comm comm,
                MPI_Request* request) {
  *request = complete_from_the_start();
  return bcast(bytes, count, type, comm);
}
int PMPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  *request = complete_from_the_start();
  return barrier(comm);
}

// Info.

int PMPI_Info_create(MPI_Info* info) {
  *info = make(first_info);
  host().infos[*info];
  return MPI_SUCCESS;
}
int PMPI_Info_free(MPI_Info* info) {
  host().infos.erase(*info);
  *info = MPI_INFO_NULL;
  return MPI_SUCCESS;
}
int PMPI_Info_dup(MPI_Info info, MPI_Info* made) {
  *made = make(first_info);
  host().infos[*made] = host().infos.at(info);
  return MPI_SUCCESS;
}
int PMPI_Info_delete(MPI_Info info, const char* key) {
  return host().infos.at(info).erase(key) != 0 ? MPI_SUCCESS : MPI_ERR_INFO_NOKEY;
}
int PMPI_Info_set(MPI_Info info, const char* key, const char* value) {
  if (*value == '\0') return MPI_ERR_INFO_VALUE;
  host().infos.at(info)[key] = value;
  return MPI_SUCCESS;
}
int PMPI_Info_get(MPI_Info info, const char* key, int length, char* value, int* found) {
  const std::string* known = look(host().infos.at(info), key);
  *found = known != nullptr ? 1 : 0;
  if (known != nullptr)
    std::snprintf(value, static_cast<std::size_t>(length) + 1, "%s", known->c_str());
  return MPI_SUCCESS;
}

// Datatypes.

int PMPI_Type_size(MPI_Datatype type, int* size) {
  if (const auto known = predefined(type)) {
    *size = known->size;
    return MPI_SUCCESS;
  }
  const Type* derived = look(host().types, type);
  if (derived == nullptr) return MPI_ERR_TYPE;
  *size = static_cast<int>(derived->extent);
  return MPI_SUCCESS;
}
int PMPI_Type_get_name(MPI_Datatype type, char* name, int* length) {
  const Type* derived = look(host().types, type);
  *length = std::snprintf(name, MPI_MAX_OBJECT_NAME, "%s",
                          derived != nullptr ? derived->name.c_str() : "");
  return MPI_SUCCESS;
}
int PMPI_Type_set_name(MPI_Datatype type, const char* name) {
  host().types.at(type).name = name;
  return MPI_SUCCESS;
}
int PMPI_Type_get_extent(MPI_Datatype type, MPI_Aint* low, MPI_Aint* extent) {
  *low = 0;
  if (const auto known = predefined(type)) {
    *extent = known->extent;
    return MPI_SUCCESS;
  }
  const Type* derived = look(host().types, type);
  if (derived == nullptr) return MPI_ERR_TYPE;
  *extent = derived->extent;
  return MPI_SUCCESS;
}
int PMPI_Type_get_true_extent(MPI_Datatype type, MPI_Aint* low, MPI_Aint* extent) {
  const auto known = predefined(type);
  if (!known) return MPI_ERR_TYPE;
  *low = 0;
  *extent = known->true_extent;
  return MPI_SUCCESS;
}
int PMPI_Type_get_envelope_c(MPI_Datatype type, MPI_Count* integers, MPI_Count* addresses,
                             MPI_Count* counts, MPI_Count* types, int* combiner) {
  *integers = *addresses = *counts = *types = 0;
  *combiner = MPI_COMBINER_NAMED;
  if (predefined(type)) return MPI_SUCCESS;
  const Type* derived = look(host().types, type);
  if (derived == nullptr) return MPI_ERR_TYPE;
  if (derived->references == 0) {
    std::fputs("fake host: PMPI_Type_get_envelope_c crashes on a freed datatype\n", stderr);
    std::abort();
  }
  *integers = static_cast<MPI_Count>(derived->integers.size());
  *addresses = static_cast<MPI_Count>(derived->addresses.size());
  *counts = static_cast<MPI_Count>(derived->counts.size());
  *types = static_cast<MPI_Count>(derived->types.size());
  *combiner = derived->combiner;
  return MPI_SUCCESS;
}
int PMPI_Type_get_contents_c(MPI_Datatype type, MPI_Count, MPI_Count, MPI_Count, MPI_Count,
                             int* integers, MPI_Aint* addresses, MPI_Count* counts,
                             MPI_Datatype* types) {
  const Type* derived = look(host().types, type);
  if (derived == nullptr) return MPI_ERR_TYPE;
  if (any_null(integers, addresses, counts, types)) return MPI_ERR_ARG;
  std::ranges::copy(derived->integers, integers);
  std::ranges::copy(derived->addresses, addresses);
  std::ranges::copy(derived->counts, counts);
  std::ranges::copy(derived->types, types);
  for (const MPI_Datatype inner : derived->types) {
    if (Type* its = look(host().types, inner)) ++its->references;
  }
  return MPI_SUCCESS;
}
int PMPI_Type_get_contents(MPI_Datatype type, int, int, int, int* integers, MPI_Aint* addresses,
                           MPI_Datatype* types) {
  MPI_Count none = 0;
  return PMPI_Type_get_contents_c(type, 0, 0, 0, 0, integers, addresses, &none, types);
}
int PMPI_Type_create_keyval(MPI_Type_copy_attr_function*, MPI_Type_delete_attr_function* deletion,
                            int* keyval, void* extra) {
  *keyval = make(first_keyval);
  host().keyvals[*keyval] = {deletion, extra};
  return MPI_SUCCESS;
}
int PMPI_Type_set_attr(MPI_Datatype type, int keyval, void* value) {
  Type& derived = host().types.at(type);
  if (derived.references == 0) {
    std::fputs("fake host: PMPI_Type_set_attr spoils a freed datatype\n", stderr);
    std::abort();
  }
  derived.attributes[keyval] = value;
  return MPI_SUCCESS;
}
int PMPI_Type_free(MPI_Datatype* type) {
  Type* derived = look(host().types, *type);
  if (derived == nullptr) return MPI_ERR_TYPE;
  if (--derived->references == 0) {
    for (const auto& [keyval, value] : std::exchange(derived->attributes, {})) {
      const Keyval& known = host().keyvals.at(keyval);
      known.of_types(*type, keyval, value, known.extra);
    }
  }
  *type = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

// Messages: to and from MPI_PROC_NULL.

int PMPI_Send(const void*, int count, MPI_Datatype type, int, int, MPI_Comm) {
  if (count < 0) return MPI_ERR_COUNT;
  if (predefined(type)) return MPI_SUCCESS;
  const Type* derived = look(host().types, type);
  return derived != nullptr && derived->committed ? MPI_SUCCESS : MPI_ERR_TYPE;
}
int PMPI_Isend(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request* request) {
  *request = complete_from_the_start();
  return MPI_SUCCESS;
}
int PMPI_Irecv(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request* request) {
  *request = complete_from_the_start();
  return MPI_SUCCESS;
}
int PMPI_Recv_init(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request* request) {
  *request = make_request(true);
  return MPI_SUCCESS;
}

// Requests.

int PMPI_Status_set_elements(MPI_Status*, MPI_Datatype, int) {
  return MPI_SUCCESS;
}
int PMPI_Status_set_elements_x(MPI_Status*, MPI_Datatype, MPI_Count) {
  return MPI_SUCCESS;
}
int PMPI_Status_set_cancelled(MPI_Status*, int) {
  return MPI_SUCCESS;
}
int PMPI_Start(MPI_Request* handle) {
  Request& request = host().requests.at(*handle);
  request.active = true;
  return MPI_SUCCESS;
}
int PMPI_Request_free(MPI_Request* handle) {
  host().requests.erase(*handle);
  *handle = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}
int PMPI_Test(MPI_Request* handle, int* flag, MPI_Status* status) {
  return test(handle, true, flag, status);
}
int PMPI_Testany(int count, MPI_Request* handles, int* index, int* flag, MPI_Status* status) {
  return test_any(count, handles, true, index, flag, status);
}
int PMPI_Testsome(int count, MPI_Request* handles, int* done, int* indices, MPI_Status* statuses) {
  return test_some(count, handles, true, done, indices, statuses);
}
int PMPI_Testall(int count, MPI_Request* handles, int* flag, MPI_Status* statuses) {
  return test_all(count, handles, true, flag, statuses);
}
int PMPI_Request_get_status(MPI_Request handle, int* flag, MPI_Status* status) {
  return test(&handle, false, flag, status);
}
int PMPI_Request_get_status_any(int count, const MPI_Request* handles, int* index, int* flag,
                                MPI_Status* status) {
  return test_any(count, const_cast<MPI_Request*>(handles), false, index, flag, status);
}
int PMPI_Request_get_status_some(int count, const MPI_Request* handles, int* done, int* indices,
                                 MPI_Status* statuses) {
  return test_some(count, const_cast<MPI_Request*>(handles), false, done, indices, statuses);
}
int PMPI_Request_get_status_all(int count, const MPI_Request* handles, int* flag,
                                MPI_Status* statuses) {
  return test_all(count, const_cast<MPI_Request*>(handles), false, flag, statuses);
}
int PMPI_Wait(MPI_Request* handle, MPI_Status* status) {
  return wait([&](int* flag) { return test(handle, true, flag, status); });
}
int PMPI_Waitall(int count, MPI_Request* handles, MPI_Status* statuses) {
  return wait([&](int* flag) { return test_all(count, handles, true, flag, statuses); });
}

}  // extern "C"

// SPDX-License-Identifier: BSD-3-Clause
#include "boundary/host/error_sentences.hpp"

#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "boundary/host/host_mpi.hpp"

namespace oriel::boundary {
namespace {

// The maximal number of codes. Hosts have space for some thousands of user-defined codes. Each
// sentence has one code, and after this many sentences a new one gets only its class.
constexpr std::size_t most_codes = 512;

/// Oriel's codes and their sentences, in both directions.
struct Codes {
  std::mutex mutex;
  std::map<std::pair<int, std::string>, int> by_sentence;
  std::map<int, std::string> by_code;
};

Codes& codes() {
  static Codes all;
  return all;
}

}  // namespace

std::string sentence_of(int code) {
  Codes& all = codes();
  const std::lock_guard guard(all.mutex);
  const auto known = all.by_code.find(code);
  return known != all.by_code.end() ? known->second : std::string();
}

int error_code(int error_class, const std::string& sentence) {
  Codes& all = codes();
  {
    const std::lock_guard guard(all.mutex);
    const auto known = all.by_sentence.find({error_class, sentence});
    if (known != all.by_sentence.end()) return known->second;
    if (all.by_sentence.size() >= most_codes) return error_class;
  }
  // Without the mutex, because a host without free codes calls an error handler of the program.
  int code = error_class;
  if (PMPI_Add_error_code(error_class, &code) != MPI_SUCCESS) return error_class;
  const std::string text = sentence.substr(0, MPI_MAX_ERROR_STRING - 1);
  PMPI_Add_error_string(code, text.c_str());
  const std::lock_guard guard(all.mutex);
  all.by_sentence.emplace(std::pair(error_class, sentence), code);
  all.by_code.emplace(code, text);
  return code;
}

}  // namespace oriel::boundary

using namespace oriel::boundary;

ORIEL_MPI_CALL(Error_string)(int code, char* text, int* length) {
  const std::string sentence = sentence_of(code);
  if (sentence.empty() || text == nullptr || length == nullptr) {
    return host_mpi().Error_string(code, text, length);
  }
  std::memcpy(text, sentence.c_str(), sentence.size() + 1);
  *length = static_cast<int>(sentence.size());
  return MPI_SUCCESS;
}

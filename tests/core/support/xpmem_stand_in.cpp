// SPDX-License-Identifier: BSD-3-Clause
// A libxpmem without a kernel module: it maps memory that its owner has of a file without a name
// (memfd), by the owner's descriptor of that file. Other memory is refused. Unlike XPMEM it does
// not follow the owner's later mappings. ORIEL_TEST_XPMEM names what it refuses:
//
//     device    there is none
//     make      exposing an address space
//     get       permits
//     attach    every mapping
//
// A call that XPMEM answers by killing the process ends it here, too. With ORIEL_INFO the first
// mapping is told on stderr: a run without one has tested nothing.
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace {

constexpr int version = 0x27000;
constexpr unsigned pid_shift = 20;

bool refuses(const char* step) {
  const char* named = std::getenv("ORIEL_TEST_XPMEM");
  return named != nullptr && std::strcmp(named, step) == 0;
}

[[noreturn]] void misused(const char* sentence) {
  std::fprintf(stderr, "xpmem: %s\n", sentence);
  std::abort();
}

std::uint64_t page_bytes() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// A mapping of the owner, as its /proc/PID/maps shows it.
struct Mapping {
  std::uint64_t begin, end, offset;
  dev_t device;
  ino_t file;
  bool shared;
};

std::vector<Mapping> mappings_of(const std::string& owner, std::uint64_t begin, std::uint64_t end) {
  std::vector<Mapping> found;
  std::FILE* list = std::fopen((owner + "/maps").c_str(), "re");
  if (list == nullptr) return found;
  char line[4352];
  while (std::fgets(line, sizeof line, list) != nullptr) {
    unsigned long first, last, offset, file;
    unsigned major_number, minor_number;
    char rights[5];
    if (std::sscanf(line, "%lx-%lx %4s %lx %x:%x %lu", &first, &last, rights, &offset,
                    &major_number, &minor_number, &file) != 7) {
      misused("a list of mappings reads otherwise than expected");
    }
    if (first >= end) break;  // they are sorted
    if (begin < last) {
      found.push_back(
          {first, last, offset, makedev(major_number, minor_number), file, rights[3] == 's'});
    }
  }
  std::fclose(list);
  return found;
}

/// A descriptor of ours of the file that the owner maps; negative: it has none open.
int open_file(const std::string& owner, const Mapping& mapping) {
  const std::string folder = owner + "/fd";
  DIR* list = ::opendir(folder.c_str());
  if (list == nullptr) return -1;
  int opened = -1;
  while (const dirent* entry = ::readdir(list)) {
    const std::string path = folder + "/" + entry->d_name;
    struct stat file{};
    if (::stat(path.c_str(), &file) == 0 && file.st_dev == mapping.device &&
        file.st_ino == mapping.file) {
      opened = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
      break;
    }
  }
  ::closedir(list);
  return opened;
}

bool map_at(std::uint64_t at, const std::string& owner, const Mapping& mapping, std::uint64_t begin,
            std::uint64_t end) {
  const int file = mapping.shared ? open_file(owner, mapping) : -1;
  if (file < 0) return false;
  const void* made = ::mmap(reinterpret_cast<void*>(at), end - begin, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_FIXED, file,
                            static_cast<off_t>(mapping.offset + (begin - mapping.begin)));
  ::close(file);
  return made != MAP_FAILED;
}

std::mutex mutex;
std::map<void*, std::size_t> attached;
std::atomic<std::uint64_t> made{0};

}  // namespace

struct xpmem_addr {
  std::int64_t permit;
  off_t offset;
};

extern "C" {

int xpmem_version() {
  return refuses("device") ? -1 : version;
}

std::int64_t xpmem_make(void* address, std::size_t bytes, int type, void* mode) {
  if (address != nullptr || bytes != ~std::size_t{0} || type != 1 ||
      reinterpret_cast<std::uintptr_t>(mode) != 0600) {
    misused("not the whole address space, or not for this user");
  }
  static std::atomic<std::int64_t> number{0};
  return refuses("make") ? -1 : (std::int64_t{::getpid()} << pid_shift) + ++number;
}

int xpmem_remove(std::int64_t space) {
  if (space >> pid_shift != ::getpid()) misused("another process's address space");
  return 0;
}

std::int64_t xpmem_get(std::int64_t space, int flags, int type, void* mode) {
  if (space <= 0 || flags != 2 || type != 1 || mode != nullptr) misused("a permit of another kind");
  return refuses("get") ? -1 : space;
}

int xpmem_release(std::int64_t permit) {
  if (permit <= 0) misused("a permit that was refused");
  return 0;
}

void* xpmem_attach(xpmem_addr from, std::size_t bytes, void* at) {
  void* const refused = reinterpret_cast<void*>(-1);
  const auto begin = static_cast<std::uint64_t>(from.offset);
  if (from.permit <= 0 || at != nullptr || begin % page_bytes() != 0 || bytes % page_bytes() != 0) {
    misused("a range that does not begin and end with pages");
  }
  if (refuses("attach")) return refused;
  void* const place =
      ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) return refused;
  const std::string owner = "/proc/" + std::to_string(from.permit >> pid_shift);
  const std::uint64_t end = begin + bytes;
  for (const Mapping& mapping : mappings_of(owner, begin, end)) {
    const std::uint64_t first = std::max(begin, mapping.begin);
    if (!map_at(reinterpret_cast<std::uintptr_t>(place) + (first - begin), owner, mapping, first,
                std::min(end, mapping.end))) {
      ::munmap(place, bytes);
      return refused;
    }
  }
  if (made++ == 0 && std::getenv("ORIEL_INFO") != nullptr) {
    std::fprintf(stderr, "xpmem: memory of another process is mapped\n");
  }
  const std::lock_guard guard(mutex);
  attached.emplace(place, bytes);
  return place;
}

int xpmem_detach(void* place) {
  const std::lock_guard guard(mutex);
  const auto found = attached.find(place);
  if (found == attached.end()) misused("not an address that was mapped");
  ::munmap(place, found->second);
  attached.erase(found);
  return 0;
}

/// The mappings that this process has made, and those that it has now.
std::uint64_t xpmem_stand_in_made() {
  return made;
}
std::uint64_t xpmem_stand_in_mapped() {
  const std::lock_guard guard(mutex);
  return attached.size();
}
}

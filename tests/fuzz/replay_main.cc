// Runs a fuzz target without a fuzzer: every file of the corpus, then mutations of them from a
// fixed seed. So that the targets are built and run wherever the tests are.
//   usage: <target>_replay CORPUS_FOLDER MUTATIONS
#include <dirent.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/filter/test_keys.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using tieredfilter::TestRandom;

std::vector<std::string> ReadFolder(const std::string& folder) {
  std::vector<std::string> names, inputs;
  DIR* directory = ::opendir(folder.c_str());
  if (directory == nullptr) return inputs;
  while (const dirent* entry = ::readdir(directory)) {
    if (entry->d_name[0] != '.') names.push_back(folder + "/" + entry->d_name);
  }
  ::closedir(directory);
  std::sort(names.begin(), names.end());  // readdir's order is the file system's
  for (const std::string& name : names) {
    std::ifstream file(name, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    inputs.push_back(text.str());
  }
  return inputs;
}

void Run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
}

// A few of what fuzzers do: flip bits, overwrite, insert, erase, splice.
std::string Mutate(std::string input, const std::vector<std::string>& corpus, TestRandom* random) {
  for (uint64_t steps = 1 + random->Below(4); steps > 0; --steps) {
    const size_t at = random->Below(input.size() + 1);
    const size_t length = random->Below(16);
    switch (random->Below(6)) {
      case 0:
      case 1:
        if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1 << random->Below(8)));
        break;
      case 2:
        if (at < input.size())
          input[at] = static_cast<char>(random->Below(3) == 0 ? 0xff : random->Next());
        break;
      case 3:
        input.insert(at, std::string(length, static_cast<char>(random->Next())));
        break;
      case 4:
        input.erase(at, length);
        break;
      case 5: {
        const std::string& other = corpus[random->Below(corpus.size())];
        input = input.substr(0, at) + other.substr(random->Below(other.size() + 1));
        break;
      }
    }
  }
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s CORPUS_FOLDER MUTATIONS\n", argv[0]);
    return 2;
  }
  const std::vector<std::string> corpus = ReadFolder(argv[1]);
  if (corpus.empty()) {
    std::fprintf(stderr, "%s: no files in %s\n", argv[0], argv[1]);
    return 1;
  }
  Run("");
  for (const std::string& input : corpus) Run(input);
  TestRandom random(1);
  const long mutations = std::atol(argv[2]);
  for (long i = 0; i < mutations; ++i) {
    Run(Mutate(corpus[random.Below(corpus.size())], corpus, &random));
  }
  std::printf("%zu files, %ld mutations\n", corpus.size(), mutations);
  return 0;
}

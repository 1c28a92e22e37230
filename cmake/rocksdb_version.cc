// Prints the version of the RocksDB library that is linked, not of the headers:
// GetRocksVersionAsString is exported.
#include <cstdio>

#include "rocksdb/version.h"

int main() {
  std::puts(rocksdb::GetRocksVersionAsString(true).c_str());
  return 0;
}

// Links only with a RocksDB library that was built with type information: reads a byte of the
// type_info object of rocksdb::FilterBitsBuilder, by its mangled name, so that no header is needed.
extern "C" const volatile char _ZTIN7rocksdb17FilterBitsBuilderE;

int main() { return _ZTIN7rocksdb17FilterBitsBuilderE == 1; }

// Links only with a RocksDB library that was built without NDEBUG. The class is declared by hand
// because its header hides it under NDEBUG, which is what this program asks about.
namespace rocksdb {
class SyncPoint {
 public:
  static SyncPoint* GetInstance();
};
}  // namespace rocksdb

int main() { return rocksdb::SyncPoint::GetInstance() == nullptr; }

# For builds inside RocksDB's own tree (ROCKSDB_PLUGINS=tieredfilter): plugin/tieredfilter there is a real folder with
# this file and links to this project's plugin and src folders. RocksDB's CMake build reads this file by regular
# expressions, so each list stays on one line with exactly this spacing. tools/check/check_sources.sh compares the list
# with CMake's.
tieredfilter_SOURCES = plugin/cuckoo_bits_builder.cc plugin/cuckoo_bits_reader.cc plugin/filter_counters.cc plugin/filter_reader.cc plugin/filter_source.cc plugin/memory_budget.cc plugin/registration.cc plugin/stock_filters.cc plugin/table_context_adapter.cc plugin/tiered_filter_policy.cc plugin/tree_sizes.cc src/filter/cpu_kernel.cc src/filter/cuckoo_geometry.cc src/filter/equations_builder.cc src/filter/fingerprint_builder.cc src/filter/fingerprint_line.cc src/filter/fingerprint_lookup.cc src/filter/hash_collector.cc src/filter/hash_sort.cc src/filter/line_solver.cc src/filter/lookup.cc src/filter/placement.cc src/filter/short_line.cc src/format/block.cc src/policy/allotment.cc src/policy/bloom_rate.cc src/policy/budget_plan.cc src/policy/budget_spec.cc src/policy/filter_curves.cc src/policy/filter_setting.cc src/policy/level_selector.cc src/policy/policy_spec.cc src/policy/spec_text.cc src/policy/tree_state.cc
tieredfilter_FUNC = tieredfilter_reg
tieredfilter_CXXFLAGS = -Iplugin/tieredfilter

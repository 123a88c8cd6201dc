// Single flipped bytes of a real entry: noticed by the next process, rebuilt and counted.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cache/entry.h"
#include "cache/little_endian.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/runtime/cli/program_run.h"

namespace onepass::cli {
namespace {

using ::testing::HasSubstr;

// The first, a middle and the last byte of every part of an entry (cache/entry.h).
std::vector<size_t> EveryPartOf(const std::string& entry) {
  const size_t preimage = 28, payload = preimage + cache::ReadU64(entry.substr(12));
  const size_t parts[] = {0, 8, 12, 20, preimage, payload, entry.size() - 8, entry.size()};
  std::vector<size_t> offsets;
  for (size_t i = 0; i + 1 < std::size(parts); ++i) {
    offsets.insert(offsets.end(),
                   {parts[i], parts[i] + (parts[i + 1] - parts[i]) / 2, parts[i + 1] - 1});
  }
  return offsets;
}

TEST(DamageTest, EveryFlippedByteIsNoticedRebuiltAndCountedByTheNextProcess) {
  const TemporaryFolder folder;
  const std::string variables = "ONEPASS_DEVICE=sim:h200 ONEPASS_CACHE_DIR=" + (folder / "cache");
  const std::string words = "run 'relu.fwd f32 8'";
  WriteText(folder / "cases.txt", "relu.fwd f32 8\n");
  ASSERT_EQ(RunOnepass(words, variables).exit_code, 0);
  const auto shard = std::filesystem::directory_iterator(folder / "cache")->path();
  const std::string path = std::filesystem::directory_iterator(shard)->path();
  const std::string entry = ReadText(path);
  ASSERT_TRUE(cache::ParseEntry(entry).ok());
  bool batch = false;
  for (const size_t at : EveryPartOf(entry)) {
    std::string damaged = entry;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x04);
    WriteText(path, damaged);
    // Both commands count, in turn.
    batch = !batch;
    const ProgramRun run =
        RunOnepass(batch ? "batch --json " + (folder / "cases.txt") : words, variables);
    EXPECT_EQ(run.exit_code, 0) << "byte " << at << ": " << run.err;
    EXPECT_THAT(run.out, HasSubstr(batch ? "\"cache\":\"miss\"" : "miss: ")) << "byte " << at;
    EXPECT_THAT(run.out,
                HasSubstr(batch ? "\"damaged_entries_rebuilt\":1" : "damaged entries rebuilt: 1"))
        << "byte " << at;
    EXPECT_TRUE(cache::ParseEntry(ReadText(path)).ok()) << "byte " << at;
  }
  const ProgramRun sound = RunOnepass(words, variables);
  EXPECT_THAT(sound.out, HasSubstr("disk: "));
  EXPECT_THAT(sound.out, testing::Not(HasSubstr("damaged")));
}

}  // namespace
}  // namespace onepass::cli

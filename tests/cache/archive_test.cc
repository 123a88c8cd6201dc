#include "cache/archive.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace onepass::cache {
namespace {

using ::testing::Contains;

struct Read {
  ArchiveTally tally;
  std::vector<std::pair<std::string, std::string>> entries;

  bool sound() const { return tally.refused == 0 && tally.complete; }
};

absl::StatusOr<Read> ReadAll(absl::string_view bytes) {
  Read read;
  const auto tally = ReadArchive(bytes, [&](const EntryView& entry) {
    read.entries.emplace_back(std::string(entry.preimage), std::string(entry.payload));
  });
  if (!tally.ok()) return tally.status();
  read.tally = *tally;
  return read;
}

std::pair<std::string, std::string> EntryNumber(int i) {
  return {absl::StrCat("key ", i), std::string(50 + i, static_cast<char>('a' + i))};
}

std::string ArchiveOf(int entries) {
  std::string bytes = ArchiveHeader();
  for (int i = 0; i < entries; ++i) {
    bytes += SerializeEntry(EntryNumber(i).first, EntryNumber(i).second);
  }
  return bytes + ArchiveTrailer(entries);
}

TEST(ArchiveTest, GivesBackWhatWentIn) {
  for (int entries : {0, 1, 3}) {
    const auto read = ReadAll(ArchiveOf(entries));
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_TRUE(read->sound());
    EXPECT_EQ(read->tally.good, entries);
    for (int i = 0; i < entries; ++i) EXPECT_EQ(read->entries[i], EntryNumber(i));
  }
}

TEST(ArchiveTest, EveryFlippedByteIsNoticedAndCostsOneEntryAtMost) {
  const std::string whole = ArchiveOf(3);
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x20);
    const auto read = ReadAll(bytes);
    if (at < ArchiveHeader().size()) {
      EXPECT_TRUE(absl::IsInvalidArgument(read.status())) << at;
      continue;
    }
    ASSERT_TRUE(read.ok()) << at;
    EXPECT_FALSE(read->sound()) << at;
    EXPECT_GE(read->tally.good, 2) << at;
    EXPECT_GE(read->tally.refused, 1) << at;
    for (const auto& entry : read->entries) {
      EXPECT_TRUE(entry == EntryNumber(0) || entry == EntryNumber(1) || entry == EntryNumber(2))
          << at;
    }
  }
}

TEST(ArchiveTest, EveryTruncationIsNoticed) {
  const std::string whole = ArchiveOf(3);
  for (size_t size = 0; size < whole.size(); ++size) {
    const auto read = ReadAll(whole.substr(0, size));
    EXPECT_FALSE(read.ok() && read->sound()) << size;
    EXPECT_FALSE(read.ok() && read->tally.complete) << size;
  }
}

TEST(ArchiveTest, EntryThatWasTakenOutIsCounted) {
  const std::string second = SerializeEntry(EntryNumber(1).first, EntryNumber(1).second);
  std::string bytes = ArchiveOf(3);
  bytes.erase(bytes.find(second), second.size());
  const auto read = ReadAll(bytes);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->tally.good, 2);
  EXPECT_EQ(read->tally.refused, 1);
  EXPECT_THAT(read->entries, Contains(EntryNumber(2)));
}

TEST(ArchiveTest, WhatFollowsTheTrailerIsNoticed) {
  EXPECT_FALSE(ReadAll(ArchiveOf(2) + "more")->sound());
}

TEST(ArchiveTest, OtherFilesAreNone) {
  for (const std::string& bytes : {std::string(), std::string("PK\3\4"), std::string(1000, '\0'),
                                   SerializeEntry("key", "payload")}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ReadAll(bytes).status()));
  }
}

}  // namespace
}  // namespace onepass::cache

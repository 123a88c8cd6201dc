#include "cache/entry.h"

#include <cstdint>
#include <string>

#include "cache/little_endian.h"
#include "gtest/gtest.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/xxhash.h"

namespace onepass::cache {
namespace {

std::string SampleEntry() { return SerializeEntry("the key", std::string("pay\0load", 8)); }

// An entry whose checksum is right, whatever else is wrong with it.
std::string Signed(std::string bytes) {
  bytes.resize(bytes.size() - 8);
  AppendU64(llvm::xxHash64(llvm::StringRef(bytes.data(), bytes.size())), bytes);
  return bytes;
}

TEST(EntryTest, RoundTrips) {
  std::string bytes = SampleEntry();
  absl::StatusOr<EntryView> entry = ParseEntry(bytes);
  ASSERT_TRUE(entry.ok()) << entry.status();
  EXPECT_EQ(entry->preimage, "the key");
  EXPECT_EQ(entry->payload, absl::string_view("pay\0load", 8));
}

TEST(EntryTest, EmptyFieldsRoundTrip) {
  std::string bytes = SerializeEntry("", "");
  EXPECT_EQ(bytes.size(), kEntryOverhead);
  absl::StatusOr<EntryView> entry = ParseEntry(bytes);
  ASSERT_TRUE(entry.ok()) << entry.status();
  EXPECT_EQ(entry->preimage, "");
  EXPECT_EQ(entry->payload, "");
}

TEST(EntryTest, BytesAreAsDocumented) {
  std::string bytes = SampleEntry();
  EXPECT_EQ(bytes.substr(0, 28),
            std::string("ONEPASS\x1a\1\0\0\0\7\0\0\0\0\0\0\0\x8\0\0\0\0\0\0\0", 28));
  EXPECT_EQ(bytes.substr(28, 15), std::string("the keypay\0load", 15));
  EXPECT_EQ(bytes.size(), kEntryOverhead + 15);
}

TEST(EntryTest, EveryFlippedBitIsNoticed) {
  const std::string good = SampleEntry();
  for (size_t i = 0; i < good.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      EXPECT_EQ(ParseEntry(bad).status().code(), absl::StatusCode::kDataLoss)
          << "byte " << i << " bit " << bit;
    }
  }
}

TEST(EntryTest, EveryTruncationIsNoticed) {
  const std::string good = SampleEntry();
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_EQ(ParseEntry(good.substr(0, size)).status().code(), absl::StatusCode::kDataLoss)
        << size << " bytes";
  }
}

TEST(EntryTest, BytesLeftOverAreNoticed) {
  EXPECT_EQ(ParseEntry(SampleEntry() + '\0').status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(ParseEntry(SampleEntry() + SampleEntry()).status().code(), absl::StatusCode::kDataLoss);
}

TEST(EntryTest, ZeroesAreNotAnEntry) {
  EXPECT_EQ(ParseEntry(std::string(4096, '\0')).status().code(), absl::StatusCode::kDataLoss);
}

TEST(EntryTest, LengthsAreNotTrustedEvenWhereTheChecksumIsRight) {
  for (uint64_t hostile : {uint64_t{8}, uint64_t{16}, uint64_t{1} << 40, ~uint64_t{0}}) {
    for (size_t field : {size_t{12}, size_t{20}}) {
      std::string bytes = SampleEntry();
      std::string length;
      AppendU64(hostile, length);
      if (bytes.substr(field, 8) == length) continue;
      bytes.replace(field, 8, length);
      EXPECT_EQ(ParseEntry(Signed(bytes)).status().code(), absl::StatusCode::kDataLoss)
          << hostile << " at " << field;
    }
  }
  // Two lengths whose sum wraps around to the right one.
  std::string bytes = SampleEntry();
  std::string lengths;
  AppendU64(~uint64_t{0} - 10, lengths);
  AppendU64(15 + 11, lengths);
  bytes.replace(12, 16, lengths);
  EXPECT_EQ(ParseEntry(Signed(bytes)).status().code(), absl::StatusCode::kDataLoss);
}

TEST(EntryTest, AnotherVersionIsRefusedByName) {
  std::string bytes = SampleEntry();
  bytes[8] = 2;
  absl::Status status = ParseEntry(Signed(bytes)).status();
  EXPECT_EQ(status.message(), "entry of version 2, not 1");
}

}  // namespace
}  // namespace onepass::cache

#include "cache/digest.h"

#include <string>

#include "gtest/gtest.h"

namespace onepass::cache {
namespace {

TEST(DigestTest, IsSha256) {
  EXPECT_EQ(Digest::Of("abc").ToHex(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Digest::Of("").ToHex(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(DigestTest, HexRoundTrips) {
  Digest digest = Digest::Of("something");
  EXPECT_EQ(Digest::FromHex(digest.ToHex()), digest);
  EXPECT_EQ(Digest::FromHex(std::string(64, '0')), Digest());
}

TEST(DigestTest, FromHexRefusesWhatToHexNeverWrites) {
  std::string hex = Digest::Of("something").ToHex();
  EXPECT_FALSE(Digest::FromHex(""));
  EXPECT_FALSE(Digest::FromHex(hex.substr(1)));
  EXPECT_FALSE(Digest::FromHex(hex + "0"));
  EXPECT_FALSE(Digest::FromHex("G" + hex.substr(1)));
  EXPECT_FALSE(Digest::FromHex("A" + hex.substr(1)));
}

TEST(PreimageTest, FieldsDoNotRunIntoEachOther) {
  EXPECT_NE(PreimageOf({"ab", "c"}), PreimageOf({"a", "bc"}));
  EXPECT_NE(PreimageOf({"a", ""}), PreimageOf({"", "a"}));
  EXPECT_NE(PreimageOf({"a"}), PreimageOf({"a", ""}));
  EXPECT_NE(PreimageOf({}), PreimageOf({""}));
}

TEST(PreimageTest, LengthIsEightLittleEndianBytes) {
  EXPECT_EQ(PreimageOf({"xyz"}), std::string("\3\0\0\0\0\0\0\0xyz", 11));
}

}  // namespace
}  // namespace onepass::cache

#include "runtime/dynamic_library.h"

#include <cmath>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace onepass {
namespace {

TEST(DynamicLibraryTest, FindsFunctionsAndSaysWhereItLies) {
  absl::StatusOr<DynamicLibrary> library = DynamicLibrary::Open("libm.so.6");
  ASSERT_TRUE(library.ok()) << library.status();
  double (*cosine)(double) = library->Find<double(double)>("cos");
  ASSERT_NE(cosine, nullptr);
  EXPECT_EQ(cosine(0.0), 1.0);
  EXPECT_EQ(library->Find<void()>("no_such_function"), nullptr);
  EXPECT_THAT(library->path(), testing::MatchesRegex("/.*libm\\.so\\.6"));
}

TEST(DynamicLibraryTest, BuildIdTellsLibrariesApart) {
  std::string maths = DynamicLibrary::Open("libm.so.6")->BuildId();
  std::string standard = DynamicLibrary::Open("libstdc++.so.6")->BuildId();
  EXPECT_THAT(maths, testing::MatchesRegex("[0-9a-f]{16,}|xxh64-.*"));
  EXPECT_NE(maths, standard);
}

TEST(DynamicLibraryTest, MissingOneIsUnavailableByName) {
  absl::Status status = DynamicLibrary::Open("libno-such-library.so.9").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr("libno-such-library.so.9"));
}

}  // namespace
}  // namespace onepass

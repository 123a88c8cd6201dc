#include "codegen/activation.h"

#include <set>
#include <string>

#include "gtest/gtest.h"

namespace onepass {
namespace {

TEST(ActivationTest, RowsAreFoundByKindAndName) {
  std::set<std::string> names;
  for (const ActivationRow& row : Activations()) {
    EXPECT_EQ(&RowOf(row.kind), &row);
    EXPECT_EQ(FindActivation(row.name), &row);
    EXPECT_TRUE(names.insert(std::string(row.name)).second) << row.name;
    EXPECT_LE(row.required, row.parameters);
  }
  EXPECT_EQ(FindActivation("no_such"), nullptr);
}

TEST(ActivationTest, SiluIsSwish) {
  ASSERT_NE(FindActivation("silu"), nullptr);
  EXPECT_EQ(FindActivation("silu")->kind, ActivationKind::kSwish);
}

TEST(ActivationTest, DefaultConstantsAreNotPrinted) {
  EXPECT_EQ(ToString(Activation{ActivationKind::kRelu, 0, 0}), "relu");
  EXPECT_EQ(ToString(Activation{ActivationKind::kElu, 1, 0}), "elu");
  EXPECT_EQ(ToString(Activation{ActivationKind::kElu, 0.5, 0}), "elu:0.5");
  EXPECT_EQ(ToString(Activation{ActivationKind::kSoftplus, 1, 30}), "softplus:1:30");
  EXPECT_EQ(ToString(Activation{ActivationKind::kPow, 0, 0}), "pow:0:0");
}

TEST(ActivationTest, BoundFollowsTheType) {
  const Activation act{ActivationKind::kTanh, 0, 0};
  const ActivationRow& row = RowOf(act.kind);
  EXPECT_EQ(UlpBound(act, DType::kF32), row.ulp_f32);
  EXPECT_EQ(UlpBound(act, DType::kF16), row.ulp_half);
  EXPECT_EQ(UlpBound(act, DType::kBF16), row.ulp_half);
  EXPECT_EQ(UlpBound(act, DType::kF64), row.ulp_f64);
}

}  // namespace
}  // namespace onepass

//! Charts as SVG that the server draws. Numbers become attributes, because the content security policy allows no style in
//! a page. A chart is stretched to its place, so labels are HTML beside it.

mod axis;
mod curve;
mod spark;
mod stacked;

pub(crate) use self::{
    curve::CurveChart,
    spark::spark,
    stacked::{Layer, Stacked},
};

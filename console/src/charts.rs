//! Charts as SVG that the server draws. Numbers become attributes, because the content security policy allows no style in
//! a page. A chart is stretched to its place, so labels are HTML beside it.

mod axis;
mod spark;
mod stacked;

pub(crate) use self::{
    spark::spark,
    stacked::{Layer, Stacked},
};

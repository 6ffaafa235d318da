//! Charts as SVG that the server draws. Numbers become attributes, because the content security policy allows no style in
//! a page. A chart is stretched to its place, so labels are HTML beside it.

mod axis;
mod precision_recall;
mod sparkline;
mod stacked_bars;

pub(crate) use self::{
    precision_recall::CurveChart,
    sparkline::sparkline,
    stacked_bars::{Layer, Stacked},
};

-- Which categories nobody scored of the text and of the image, and which of them a provider was asked for and left out. Null: an
-- older binary analysed it, or the analysis did not come to its end.
alter table analyses add column gaps json;

-- A table filled, indexed and queried in memory; :rows is set by the caller.
create table item(id integer primary key, name text, shelf int, price real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < :rows)
    insert into item select i, hex(i * 7919 % 1000003), i % 97, i * 0.25 from n;
create index item_name on item(name);
create index item_shelf on item(shelf, price);
select count(*), max(name), sum(length(name)) from item where name like '%A%';
select shelf, count(*), round(sum(price)), length(group_concat(name)) from item
    group by shelf order by 3 desc limit 5;
select count(*) from item a join item b on a.name = b.name where a.shelf < 50;
update item set name = name || '-' || shelf where id % 3 = 0;
delete from item where id % 7 = 0;
select count(*), min(name), max(name) from item;
